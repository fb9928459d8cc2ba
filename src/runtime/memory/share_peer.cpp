// SPDX-License-Identifier: Apache-2.0
// Asks the system about the process at the other end of a socket.

#include "src/runtime/memory/share_peer.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "src/base/no_cancellation.h"
#include "src/base/open_file.h"

namespace advstep {
namespace {

// Reads the beginning of a file of /proc. Returns an empty text if there is none.
template <size_t kRoom>
const char* ReadBeginning(const char* path, char (&text)[kRoom]) {
    const NoCancellation noCancellation;
    const int file = OpenFile(path, O_RDONLY);
    const ssize_t got = file >= 0 ? read(file, text, kRoom - 1) : -1;
    if (file >= 0) {
        (void)close(file);
    }
    text[got > 0 ? got : 0] = '\0';
    return text;
}

// Returns whether every user has a number of its own in this process's user namespace.
bool TellsUsersApart() {
    char text[128];
    uint64_t first = 1;
    uint64_t outside = 1;
    uint64_t count = 0;
    return std::sscanf(ReadBeginning("/proc/self/uid_map", text),
                       "%" SCNu64 " %" SCNu64 " %" SCNu64, &first, &outside, &count) == 3 &&
           first == 0 && count >= 0xFFFFFFFF;
}

uint32_t UserOfUnknown() {
    constexpr uint32_t kUsual = 65534;
    char text[32];
    uint32_t user = kUsual;
    (void)std::sscanf(ReadBeginning("/proc/sys/kernel/overflowuid", text), "%" SCNu32, &user);
    return user;
}

// The system lets a process look only into those of its user, and of user namespaces below its own.
bool MayLookInto(int32_t pid) {
    char path[48];
    (void)std::snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
    struct stat about {};
    return stat(path, &about) == 0;
}

}  // namespace

bool SharePeer::Of(int socket, SharePeer* peer) {
    ucred credentials{};
    socklen_t bytes = sizeof(credentials);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) {
        return false;
    }
    *peer = {credentials.pid, credentials.uid};
    return true;
}

bool SharePeer::IsThisProcess() const { return pid == getpid(); }

bool SharePeer::IsSameUser() const {
    if (user != geteuid()) {
        return false;
    }
    return IsSameUserWithoutDoubt() || MayLookInto(pid);
}

bool SharePeer::IsSameUserWithoutDoubt() const { return user == geteuid() && ThisUserHasANumber(); }

bool ThisUserHasANumber() { return geteuid() != UserOfUnknown() || TellsUsersApart(); }

uint64_t StartOf(int32_t pid) {
    constexpr int kFieldsBefore = 19;  // after the name: the start is field 22
    char path[48];
    (void)std::snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    char text[1024];
    const char* at = pid > 0 ? std::strrchr(ReadBeginning(path, text), ')') : nullptr;
    for (int field = 0; at != nullptr && field <= kFieldsBefore; ++field) {
        at = std::strchr(at + 1, ' ');
    }
    return at != nullptr ? std::strtoull(at, nullptr, 10) : 0;
}

}  // namespace advstep
