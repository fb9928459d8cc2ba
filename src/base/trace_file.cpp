// SPDX-License-Identifier: Apache-2.0
// Writes events into the blanks before the tail of the trace file, and moves the tail.

#include "src/base/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/no_cancellation.h"
#include "src/base/no_file_signals.h"
#include "src/base/open_file.h"
#include "src/base/trace_event.h"

namespace advstep {
namespace {

constexpr std::string_view kEmpty = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n\n]}\n";
constexpr std::string_view kTail = "\n]}\n";
constexpr std::string_view kHead = kEmpty.substr(0, kEmpty.size() - kTail.size());

constexpr int64_t kPage = 4096;  // every page size is a multiple
constexpr int64_t kMostBlanks = int64_t{8} << 20;

constexpr auto kBlanks = [] {
    std::array<char, 4 * kPage> blanks{};
    for (char& blank : blanks) {
        blank = ' ';
    }
    return blanks;
}();

int64_t PageUp(int64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

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

// As WriteAll, at a place in a regular file.
bool WriteAllAt(int file, std::string_view text, int64_t place) {
    while (!text.empty()) {
        const ssize_t count = pwrite(file, text.data(), text.size(), static_cast<off_t>(place));
        if (count < 0 && errno != EINTR) {
            return false;
        }
        text.remove_prefix(count < 0 ? 0 : static_cast<size_t>(count));
        place += count < 0 ? 0 : count;
    }
    return true;
}

bool WriteBlanks(int file, int64_t begin, int64_t end) {
    constexpr auto kAtOnce = static_cast<int64_t>(kBlanks.size());
    for (int64_t place = begin; place < end; place += kAtOnce) {
        const auto size = static_cast<size_t>(std::min(kAtOnce, end - place));
        if (!WriteAllAt(file, std::string_view(kBlanks.data(), size), place)) {
            return false;
        }
    }
    return true;
}

std::string WithProcessId(std::string path) {
    constexpr std::string_view kId = "%p";
    const std::string id = std::to_string(getpid());
    for (size_t at = 0; (at = path.find(kId, at)) != std::string::npos; at += id.size()) {
        path.replace(at, kId.size(), id);
    }
    return path;
}

// Locks the file for this process, until it closes the file. A lock of fcntl is not the child's
// after a fork, and ends with the process. Returns the process that has the lock already, 0 if it
// is in another pid namespace, and -1 if the file is locked now or cannot be locked at all.
pid_t LockOrOwner(int file) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;  // to the end, wherever that will be
    if (fcntl(file, F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN)) {
        return -1;
    }
    return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

}  // namespace

Status TraceFile::Open(const std::string& path) {
    const NoCancellation noCancellation;
    const NoFileSignals noSignals;
    ADVSTEP_RETURN_IF_ERROR(Close());
    buffer_.reserve(kBufferBytes + kBufferBytes / 2);
    path_ = WithProcessId(path);
    pid_t owner = -1;
    const int error = OpenPath(&owner);
    if (error == 0) {
        return {};
    }
    if (IsOpen()) {
        (void)close(std::exchange(file_, -1));
    }
    return owner >= 0
               ? Error(ACL_ERROR_FILE_ATTR_INVALID,
                       "ADVANCE_STEP_TRACE is \"{}\", in which process {} writes its trace; "
                       "expected a file for each process: %p in the path becomes its id",
                       path_, owner)
               : Error(ACL_ERROR_FILE_ATTR_INVALID,
                       "ADVANCE_STEP_TRACE is \"{}\", which cannot be written: {}; expected the "
                       "path of a file to write",
                       path_, FileErrorText(error));
}

// Returns 0 or an errno. *owner is the process that has locked the file, if one has.
int TraceFile::OpenPath(pid_t* owner) {
    file_ = OpenFile(path_.c_str(), O_WRONLY | O_CREAT);
    struct stat status {};
    if (file_ < 0 || fstat(file_, &status) != 0) {
        return errno;
    }
    isRegular_ = S_ISREG(status.st_mode);
    // A device such as /dev/null may belong to all.
    if (isRegular_ || S_ISFIFO(status.st_mode)) {
        *owner = LockOrOwner(file_);
        if (*owner >= 0) {
            return EAGAIN;
        }
    }
    return Begin() ? 0 : errno;
}

bool TraceFile::Begin() {
    empty_ = true;
    buffer_.clear();
    written_ = static_cast<int64_t>(kHead.size());
    tail_ = written_;
    return isRegular_ ? ftruncate(file_, 0) == 0 && WriteAllAt(file_, kEmpty, 0)
                      : WriteAll(file_, kHead);
}

Status TraceFile::Append(std::string_view events) {
    if (!IsOpen()) {
        return {};
    }
    const std::string_view separator = empty_ ? "" : kTraceSeparator;
    const size_t size = separator.size() + events.size();
    const int64_t begin = written_ + static_cast<int64_t>(buffer_.size());
    const int64_t room = PageUp(begin) - begin;
    buffer_.reserve(buffer_.size() + kPage + size);  // all of it or nothing
    empty_ = false;
    if (isRegular_ && static_cast<int64_t>(size) > room) {
        buffer_.append(static_cast<size_t>(room), ' ');
    }
    buffer_ += separator;
    buffer_ += events;
    if (buffer_.size() < kBufferBytes) {
        return {};
    }
    const NoCancellation noCancellation;
    const NoFileSignals noSignals;
    const int64_t blanks = std::clamp(written_, static_cast<int64_t>(kBufferBytes), kMostBlanks);
    // Where there is no room for blanks, there may be some for the events.
    return Flush(blanks) || (isRegular_ && Flush(0)) ? Status() : GiveUp(errno);
}

// Writes the buffer. If the tail has to move for that, so many blanks will be left before it.
bool TraceFile::Flush(int64_t blanks) {
    if (!isRegular_) {
        if (!WriteAll(file_, buffer_)) {
            return false;
        }
        buffer_.clear();
        return true;
    }
    const int64_t end = written_ + static_cast<int64_t>(buffer_.size());
    if ((end > tail_ && !MoveTail(PageUp(end + blanks))) || !WriteAllAt(file_, buffer_, written_)) {
        return false;
    }
    written_ = end;
    buffer_.clear();
    return true;
}

bool TraceFile::MoveTail(int64_t place) {
    constexpr std::string_view kErased = "    ";
    static_assert(kErased.size() == kTail.size());
    // Blanks may follow the tail, too.
    if (!WriteBlanks(file_, tail_ + static_cast<int64_t>(kTail.size()), place) ||
        !WriteAllAt(file_, kTail, place) || !WriteAllAt(file_, kErased, tail_)) {
        return false;
    }
    tail_ = place;
    return true;
}

// Puts the tail right behind the events, as the end of the file.
bool TraceFile::WriteEnd() {
    if (!isRegular_) {
        return WriteAll(file_, kTail);
    }
    return WriteAllAt(file_, kTail, written_) &&
           ftruncate(file_, static_cast<off_t>(written_) + static_cast<off_t>(kTail.size())) == 0;
}

Status TraceFile::GiveUp(int error) {
    if (isRegular_) {
        // There is room for the tail, since there was.
        (void)WriteEnd();
    }
    (void)close(std::exchange(file_, -1));
    return Error(ACL_ERROR_FAILURE, "the trace \"{}\" cannot be written any more: {}", path_,
                 FileErrorText(error));
}

Status TraceFile::Close() {
    const NoCancellation noCancellation;
    const NoFileSignals noSignals;
    if (!IsOpen()) {
        return {};
    }
    if (!Flush(0) || !WriteEnd()) {
        return GiveUp(errno);
    }
    const int file = std::exchange(file_, -1);
    return close(file) == 0 ? Status()
                            : Error(ACL_ERROR_FAILURE, "the trace \"{}\" cannot be closed: {}",
                                    path_, FileErrorText(errno));
}

}  // namespace advstep
