// SPDX-License-Identifier: Apache-2.0
// Reads and makes the file of the user's secret.

#include "src/adxl/user_secret.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "src/base/high_descriptor.h"
#include "src/runtime/memory/fork_records.h"
#include "src/runtime/memory/share_peer.h"

namespace advstep::transfer {
namespace {

constexpr const char* kFolder = "/dev/shm";  // gone with the next start of the host

std::string PathOfSecret() {
    return fmt::format("{}/advance_step-transfer-{}", kFolder, geteuid());
}

Outcome NoSecret(const char* what, const std::string& path) {
    return Fail(adxl::FAILED, "{} {} ({}); expected a file that only this user can read", what,
                path, std::generic_category().message(errno));
}

// Makes the file whole or not at all. Another process may be first: its secret stays.
Outcome MakeSecret(const std::string& path) {
    uint64_t words[2] = {};
    if (!DrawRandom(words, 2)) {
        return NoSecret("the host has no random bits for", path);
    }
    const Descriptor file(
        OpenHigh([] { return open(kFolder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600); }));
    // The program's umask may take the user's own bits away.
    if (!file.Usable() || fchmod(file.Get(), 0600) != 0 ||
        write(file.Get(), words, sizeof(words)) != sizeof(words)) {
        return NoSecret("the host cannot make", path);
    }
    const std::string unnamed = fmt::format("/proc/self/fd/{}", file.Get());
    if (linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0 &&
        errno != EEXIST) {
        return NoSecret("the host cannot make", path);
    }
    return {};
}

}  // namespace

Outcome ReadUserSecret(ShareKey* secret) {
    if (!ThisUserHasANumber()) {
        return Fail(adxl::FAILED,
                    "this process's user has no number in its user namespace; expected one, which "
                    "tells it from other users");
    }
    const std::string path = PathOfSecret();
    const auto openIt = [&] {
        return Descriptor(OpenHigh(
            [&] { return open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); }));
    };
    Descriptor file = openIt();
    if (!file.Usable() && errno == ENOENT) {
        ADVSTEP_TRANSFER_RETURN_IF_ERROR(MakeSecret(path));
        file = openIt();
    }
    if (!file.Usable()) {
        return NoSecret("the host does not open", path);
    }
    struct stat about {};
    uint64_t words[2] = {};
    if (fstat(file.Get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
        (about.st_mode & 077) != 0 || about.st_size != sizeof(words) ||
        read(file.Get(), words, sizeof(words)) != sizeof(words) || (words[0] | words[1]) == 0) {
        return Fail(adxl::FAILED,
                    "{} is a file of user {} with mode {:o} and {} bytes; expected one of user {} "
                    "with mode 600 and {} bytes: remove it",
                    path, about.st_uid, about.st_mode & 07777, about.st_size, geteuid(),
                    sizeof(words));
    }
    secret->secret[0] = words[0];
    secret->secret[1] = words[1];
    return {};
}

}  // namespace advstep::transfer
