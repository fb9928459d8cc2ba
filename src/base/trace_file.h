// SPDX-License-Identifier: Apache-2.0
// A file of trace events, which is valid JSON at any time.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace advstep {

/// A file of trace events. Events are collected in memory and written when they have kBufferBytes.
/// The class is not thread-safe: its owner's lock guards it.
///
/// A process that is killed leaves valid JSON, although the kernel may cut a write between any two
/// pages of the file. Blanks, which JSON ignores, separate the events from the tail "]}". Events
/// are written over these blanks, and no event crosses a page, so the file is valid wherever a
/// write is cut. The tail moves when the blanks are used up: the new one is written before the old
/// one is erased. Only between these two short writes is the file no JSON. The blanks double with
/// the file up to kMostBlanks, so a trace has few such moments, of about a microsecond each.
///
/// What is no regular file, as a pipe, gets the events one after another, and the tail at the end.
class TraceFile {
 public:
    static constexpr size_t kBufferBytes = size_t{64} << 10;

    TraceFile() = default;
    ~TraceFile() { (void)Close(); }
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    /// Creates the file, or replaces what an existing one has. "%p" in the path becomes the process
    /// id. 100008: the file cannot be opened or written, or another process writes its trace there.
    Status Open(const std::string& path);

    /// Adds one event, or several with kTraceSeparator between them. It does nothing if the file is
    /// not open. 500001: the file could not be written; it keeps the events written before and is
    /// closed.
    Status Append(std::string_view events);

    /// Writes the remaining events, removes the blanks and closes the file. It does nothing if the
    /// file is not open. The codes are those of Append.
    Status Close();

    bool IsOpen() const { return file_ >= 0; }

 private:
    int OpenPath(pid_t* owner);
    bool Begin();
    bool Flush(int64_t blanks);
    bool MoveTail(int64_t place);
    bool WriteEnd();
    Status GiveUp(int error);

    int file_ = -1;
    bool isRegular_ = false;
    std::string path_;
    std::string buffer_;   // follows the first written_ bytes of the file
    int64_t written_ = 0;  // bytes of a regular file up to the last event
    int64_t tail_ = 0;     // the place of its tail
    bool empty_ = true;    // the file has no event yet
};

}  // namespace advstep
