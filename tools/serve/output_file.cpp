// SPDX-License-Identifier: Apache-2.0
// Implements files that appear as a whole, and the check that no two outputs are one file.

#include "output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "interrupt.h"
#include "standard_streams.h"

namespace serve {
namespace {

namespace fs = std::filesystem;

std::string LastError() { return std::generic_category().message(errno); }

// As a new file would get it.
mode_t NewFileMode() {
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

// Opens what is no regular file. A pipe without a reader is waited for, until a signal comes.
int OpenWaiting(const std::string& path) {
    constexpr timespec kPause = {0, 50'000'000};
    for (;;) {
        const int descriptor = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (descriptor >= 0) {
            fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
        }
        if (descriptor >= 0 || errno != ENXIO || !fs::is_fifo(path)) {
            return descriptor;
        }
        ThrowIfInterrupted();
        nanosleep(&kPause, nullptr);
    }
}

// Follows symbolic links, the last of which may name a file that does not exist yet. The result is
// a link only if there are too many.
fs::path BehindLinks(fs::path path) {
    constexpr int kMostLinks = 40;  // as Linux follows
    std::error_code error;
    for (int links = 0; links < kMostLinks && fs::is_symlink(path, error); ++links) {
        path = path.parent_path() / fs::read_symlink(path, error);
    }
    return path;
}

// Returns the standard output or error if the path is the file to which it goes, else -1. A program
// that printed there, too, would lose one of both if the file were replaced.
int StandardStreamOf(const std::string& path) {
    struct stat file = {};
    struct stat stream = {};
    for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
        if (stat(path.c_str(), &file) == 0 && fstat(standard, &stream) == 0 &&
            file.st_dev == stream.st_dev && file.st_ino == stream.st_ino) {
            return standard;
        }
    }
    return -1;
}

bool WriteAll(int descriptor, const std::string& text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = write(descriptor, text.data() + done, text.size() - done);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        done += count > 0 ? static_cast<size_t>(count) : 0;
    }
    return true;
}

// Whether two paths are one file, or would be.
bool Same(const std::string& a, const std::string& b) {
    std::error_code ignored;
    if (fs::equivalent(a, b, ignored)) {
        // Both may be a terminal, or /dev/null.
        return fs::is_regular_file(a, ignored);
    }
    const fs::path first = fs::weakly_canonical(fs::absolute(BehindLinks(a), ignored), ignored);
    const fs::path second = fs::weakly_canonical(fs::absolute(BehindLinks(b), ignored), ignored);
    return !fs::exists(a, ignored) && !first.empty() && first == second;
}

}  // namespace

OutputFile::OutputFile(std::string path, std::string what)
    : path_(std::move(path)), what_(std::move(what)) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path_, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        descriptor_ = OpenWaiting(path_);
    } else {
        target_ =
            (fs::exists(status) ? fs::canonical(path_, ignored) : BehindLinks(path_)).string();
        const int standard = StandardStreamOf(target_);
        if (fs::is_symlink(target_, ignored)) {
            errno = ELOOP;
        } else if (standard >= 0) {
            shared_ = true;
            descriptor_ = fcntl(standard, F_DUPFD_CLOEXEC, 0);
        } else {
            OpenTarget();
        }
    }
    if (descriptor_ < 0) {
        Fail();
    }
    if (!temporary_.empty()) {
        struct stat before = {};
        const bool exists = stat(target_.c_str(), &before) == 0;
        fchmod(descriptor_, exists ? before.st_mode & 07777 : NewFileMode());
    }
}

void OutputFile::OpenTarget() {
    // A short name: with one that is made of the target's, it might be too long.
    temporary_ = (fs::path(target_).parent_path() / ".serve-XXXXXX").string();
    descriptor_ = mkostemp(temporary_.data(), O_CLOEXEC);
    if (descriptor_ < 0) {
        temporary_.clear();
        const int reason = errno;
        descriptor_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);  // of a folder without room
        inPlace_ = descriptor_ >= 0;
        errno = reason;
        return;
    }
    RemoveWhenEnded(temporary_);
}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0) {
        close(descriptor_);
    }
    if (!temporary_.empty()) {
        unlink(temporary_.c_str());
    }
}

void OutputFile::WriteUntilThen(const std::string& text) const {
    if (!temporary_.empty() || inPlace_) {
        WriteFile(path_, what_, text);
    }
}

void OutputFile::Commit(const std::string& text) {
    if (shared_) {
        std::fflush(stdout);  // what was printed before it comes before it
    }
    if ((inPlace_ && ftruncate(descriptor_, 0) != 0) || !WriteAll(descriptor_, text) ||
        close(std::exchange(descriptor_, -1)) != 0) {
        Fail();
    }
    if (temporary_.empty()) {
        return;
    }
    if (rename(temporary_.c_str(), target_.c_str()) != 0) {
        if (errno != EBUSY) {
            Fail();
        }
        // A file that is mounted by itself, as in a container, cannot be replaced.
        descriptor_ = open(target_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (descriptor_ < 0 || !WriteAll(descriptor_, text) ||
            close(std::exchange(descriptor_, -1)) != 0) {
            Fail();
        }
        unlink(temporary_.c_str());
    }
    temporary_.clear();
}

void OutputFile::Fail() const {
    throw std::runtime_error(
        fmt::format("{}: {} cannot be written: {}", path_, what_, LastError()));
}

void OpenIfNamed(std::optional<OutputFile>& file, const std::string& path, const char* what) {
    if (!path.empty()) {
        file.emplace(path, what);
    }
}

bool Written(std::optional<OutputFile>& file, const std::function<std::string()>& makeText,
             const char* option) {
    try {
        if (file) {
            file->Commit(makeText());
        }
        return true;
    } catch (const std::bad_alloc&) {
        Tell(fmt::format("{}: the host has no memory for the file; it is not written", option));
    } catch (const std::exception& error) {
        Tell(error.what());
    }
    return false;
}

void WriteFile(const std::string& path, const std::string& what, const std::string& text) {
    OutputFile(path, what).Commit(text);
}

void ExpectNoStandardStream(const NamedFile& output) {
    std::error_code ignored;
    if (fs::is_regular_file(output.path, ignored) && StandardStreamOf(output.path) >= 0) {
        throw std::runtime_error(
            fmt::format("{} is {}, the file of the standard output or error; expected a file of "
                        "its own",
                        output.option, output.path));
    }
}

void ExpectDistinct(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
    for (size_t i = 0; i < outputs.size(); ++i) {
        std::vector<NamedFile> others(outputs.begin(),
                                      outputs.begin() + static_cast<std::ptrdiff_t>(i));
        others.insert(others.end(), inputs.begin(), inputs.end());
        for (const NamedFile& other : others) {
            if (!outputs[i].path.empty() && !other.path.empty() &&
                Same(outputs[i].path, other.path)) {
                throw std::runtime_error(fmt::format("{} and {} name the same file, {}",
                                                     other.option, outputs[i].option,
                                                     outputs[i].path));
            }
        }
    }
}

}  // namespace serve
