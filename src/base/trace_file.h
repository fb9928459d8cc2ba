#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace advstep {

/// A file of trace events that is written as they come: what is not in the file yet are at most
/// kBufferBytes. After each write the file is complete JSON, so a process that is killed leaves
/// valid JSON behind as well. Not thread-safe: its owner's lock guards it.
class TraceFile {
 public:
    static constexpr size_t kBufferBytes = size_t{64} << 10;

    TraceFile() = default;
    ~TraceFile() { (void)Close(); }
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    /// Begins a new file, over one that is there. 100008: it cannot be opened or written.
    Status Open(const std::string& path);

    /// Adds one event, or several with kTraceSeparator between them. 500001: the file could not be
    /// written; it ends with what was written before, and is closed. Nothing if it is not open.
    Status Append(std::string_view events);

    /// Writes what is missing. Codes as Append. Nothing if it is not open.
    Status Close();

    bool IsOpen() const { return file_ >= 0; }

 private:
    Status Flush();
    Status GiveUp(int error);

    int file_ = -1;
    std::string path_;
    std::string buffer_;
    int64_t written_ = 0;  // bytes of the file that stay
    bool empty_ = true;    // no event yet
};

}  // namespace advstep
