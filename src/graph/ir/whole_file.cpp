// SPDX-License-Identifier: Apache-2.0
// Writes a new file beside the one to replace and renames it.

#include "src/graph/ir/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "src/base/high_descriptor.h"
#include "src/base/no_file_signals.h"

namespace advstep::graph {
namespace {

constexpr size_t kMostOfName = 200;  // bytes of a file name that its neighbour's has too
constexpr int kMostLinks = 40;       // as Linux follows

// The file to which the path leads, which need not be there. Returns false, with errno set, if
// there are too many links.
bool FollowLinks(std::string* path) {
    for (int links = 0; links < kMostLinks; ++links) {
        std::error_code noLink;
        const std::filesystem::path next = std::filesystem::read_symlink(*path, noLink);
        if (noLink) {
            return true;
        }
        *path = std::filesystem::path(*path).parent_path() / next;
    }
    errno = ELOOP;
    return false;
}

// Each function returns false, with errno set, on failure.
class Neighbour {
 public:
    explicit Neighbour(std::string target) : target_(std::move(target)) {}
    Neighbour(const Neighbour&) = delete;
    Neighbour& operator=(const Neighbour&) = delete;
    ~Neighbour() {
        if (file_ >= 0) {
            (void)close(file_);
        }
        if (!name_.empty()) {
            (void)unlink(name_.c_str());
        }
    }

    bool Open();
    bool TakeAttributes() const;
    bool Write(const std::string& bytes) const;
    bool Replace();

 private:
    std::string NextName() const;

    std::string target_;
    std::string name_;  // empty: the file has none
    int file_ = -1;
};

// A process of the same number, now or before, may have some of the names.
std::string Neighbour::NextName() const {
    static std::atomic<uint64_t> count{0};
    // The file name is cut, since the longest leaves no room for more.
    return fmt::format("{}.{}.{}.part", target_.substr(0, target_.rfind('/') + 1 + kMostOfName),
                       getpid(), count.fetch_add(1));
}

bool Neighbour::Open() {
    const std::string folder = target_.substr(0, target_.rfind('/') + 1);
    // Only /proc can give a name to a file that has none.
    if (access("/proc/self/fd", X_OK) == 0) {
        file_ = OpenHigh([&] {
            return open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC,
                        0666);
        });
    }
    while (file_ < 0) {
        const std::string name = NextName();
        file_ = OpenHigh(
            [&] { return open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
        if (file_ >= 0) {
            name_ = name;
        } else if (errno != EEXIST) {
            return false;
        }
    }
    return true;
}

// Those of the target, if it is there. What may not be written may not be replaced either.
bool Neighbour::TakeAttributes() const {
    constexpr mode_t kPermissions = 0777;
    struct stat before {};
    if (stat(target_.c_str(), &before) != 0) {
        return errno == ENOENT;
    }
    if (eaccess(target_.c_str(), W_OK) != 0) {
        return false;
    }
    // Not every process may give files away. This one may have no number for the owner.
    [[maybe_unused]] const int given = fchown(file_, before.st_uid, before.st_gid);
    return fchmod(file_, before.st_mode & kPermissions) == 0;
}

bool Neighbour::Write(const std::string& bytes) const {
    for (size_t written = 0; written < bytes.size();) {
        const ssize_t count = write(file_, bytes.data() + written, bytes.size() - written);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        written += count < 0 ? 0 : static_cast<size_t>(count);
    }
    return true;
}

bool Neighbour::Replace() {
    const std::string self = fmt::format("/proc/self/fd/{}", file_);
    while (name_.empty()) {
        const std::string name = NextName();
        if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
            name_ = name;
        } else if (errno != EEXIST) {
            return false;
        }
    }
    if (close(std::exchange(file_, -1)) != 0 || std::rename(name_.c_str(), target_.c_str()) != 0) {
        return false;
    }
    name_.clear();
    return true;
}

}  // namespace

Outcome ReplaceFile(const std::string& path, const std::string& bytes) {
    const NoFileSignals noSignals;
    std::string target = path;
    const bool followed = FollowLinks(&target);
    Neighbour file(target);
    if (followed && file.Open() && file.TakeAttributes() && file.Write(bytes) && file.Replace()) {
        return {};
    }
    return Fail(kInnerError, "{} cannot be written: {}", path,
                std::generic_category().message(errno));
}

}  // namespace advstep::graph
