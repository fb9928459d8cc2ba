// SPDX-License-Identifier: Apache-2.0
// A file of trace events, which is valid JSON after each write.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace advstep {

/// A file of trace events. Events are collected in memory and written when they have kBufferBytes.
/// The file is complete JSON after each write, so even a killed process leaves valid JSON. The
/// class is not thread-safe: its owner's lock guards it.
class TraceFile {
 public:
    static constexpr size_t kBufferBytes = size_t{64} << 10;

    TraceFile() = default;
    ~TraceFile() { (void)Close(); }
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    /// Creates the file, or replaces an existing one. 100008: the file cannot be opened or written.
    Status Open(const std::string& path);

    /// Adds one event, or several with kTraceSeparator between them. It does nothing if the file is
    /// not open. 500001: the file could not be written; it keeps the events written before and is
    /// closed.
    Status Append(std::string_view events);

    /// Writes the remaining events and closes the file. It does nothing if the file is not open.
    /// The codes are those of Append.
    Status Close();

    bool IsOpen() const { return file_ >= 0; }

 private:
    Status Flush();
    Status GiveUp(int error);

    int file_ = -1;
    std::string path_;
    std::string buffer_;
    int64_t written_ = 0;  // bytes of the file before the tail, which later writes overwrite
    bool empty_ = true;    // the file has no event yet
};

}  // namespace advstep
