// SPDX-License-Identifier: Apache-2.0
// Appends events to the trace file and keeps it complete JSON after each write.

#include "src/base/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/no_cancellation.h"
#include "src/base/open_file.h"
#include "src/base/trace_event.h"

namespace advstep {
namespace {

constexpr std::string_view kHead = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
constexpr std::string_view kTail = "\n]}\n";

// Returns false, with errno set, if not all could be written.
bool WriteAll(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = write(file, text.data(), text.size());
        if (count < 0 && errno != EINTR) {
            return false;
        }
        text.remove_prefix(count < 0 ? 0 : static_cast<size_t>(count));
    }
    return true;
}

// Writes the end of the JSON text after the events written so far. The next events overwrite it.
// Returns false if that is not possible, for instance on a pipe.
bool WriteTailAt(int file, int64_t offset) {
    ssize_t count = 0;
    do {
        count = pwrite(file, kTail.data(), kTail.size(), static_cast<off_t>(offset));
    } while (count < 0 && errno == EINTR);
    return count == static_cast<ssize_t>(kTail.size());
}

}  // namespace

Status TraceFile::Open(const std::string& path) {
    const NoCancellation noCancellation;
    ADVSTEP_RETURN_IF_ERROR(Close());
    const auto refuse = [&](int error) {
        return Error(ACL_ERROR_FILE_ATTR_INVALID,
                     "ADVANCE_STEP_TRACE is \"{}\", which cannot be written: {}; expected the path "
                     "of a file to write",
                     path, FileErrorText(error));
    };
    buffer_.reserve(kBufferBytes + kBufferBytes / 2);
    path_ = path;
    const int file = OpenFile(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
    if (file < 0) {
        return refuse(errno);
    }
    if (!WriteAll(file, kHead)) {
        const int error = errno;
        (void)close(file);
        return refuse(error);
    }
    file_ = file;
    written_ = static_cast<int64_t>(kHead.size());
    (void)WriteTailAt(file_, written_);
    empty_ = true;
    buffer_.clear();
    return {};
}

Status TraceFile::Append(std::string_view events) {
    if (!IsOpen()) {
        return {};
    }
    if (!std::exchange(empty_, false)) {
        buffer_ += kTraceSeparator;
    }
    buffer_ += events;
    return buffer_.size() >= kBufferBytes ? Flush() : Status();
}

Status TraceFile::Flush() {
    const NoCancellation noCancellation;
    if (!WriteAll(file_, buffer_)) {
        return GiveUp(errno);
    }
    written_ += static_cast<int64_t>(buffer_.size());
    buffer_.clear();
    (void)WriteTailAt(file_, written_);
    return {};
}

Status TraceFile::GiveUp(int error) {
    // The file is cut back to its last complete state. There is room for the tail, which was there
    // before.
    if (ftruncate(file_, static_cast<off_t>(written_)) == 0) {
        (void)WriteTailAt(file_, written_);
    }
    (void)close(std::exchange(file_, -1));
    return Error(ACL_ERROR_FAILURE, "the trace \"{}\" cannot be written any more: {}", path_,
                 FileErrorText(error));
}

Status TraceFile::Close() {
    const NoCancellation noCancellation;
    if (!IsOpen()) {
        return {};
    }
    ADVSTEP_RETURN_IF_ERROR(Flush());
    if (!WriteTailAt(file_, written_) && !WriteAll(file_, kTail)) {
        return GiveUp(errno);
    }
    const int file = std::exchange(file_, -1);
    return close(file) == 0 ? Status()
                            : Error(ACL_ERROR_FAILURE, "the trace \"{}\" cannot be closed: {}",
                                    path_, FileErrorText(errno));
}

}  // namespace advstep
