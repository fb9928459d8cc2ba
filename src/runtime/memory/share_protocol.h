// SPDX-License-Identifier: Apache-2.0
// The protocol by which a process asks another one for pages: keys, the socket, two messages.

#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace advstep {

/// The kind of object that a key stands for.
enum class ShareKind : uint32_t { kPhysical = 1, kBlock = 2, kNotify = 3, kEvent = 4 };

/// A key: the random name of the exporting process, and a number that it gives once.
using ShareKey = uint64_t;
inline uint32_t ProcessOf(ShareKey key) { return static_cast<uint32_t>(key >> 32); }

constexpr uint32_t kShareMagic = 0x41535331;  // "ASS1"; another protocol gets another number

struct ShareRequest {
    uint32_t magic;
    ShareKind kind;
    ShareKey key;
};

/// The answer. The descriptor of the file comes with an answer of code 0.
struct ShareAnswer {
    uint32_t magic;
    int32_t code;
    uint64_t offset;  // of the pages in the file
    uint64_t bytes;   // of the pages
    uint64_t inner;   // where the shared object begins in the pages
    uint64_t length;  // of the shared object
    int32_t device;   // that owns it in the exporting process
    uint32_t reserved;
};

/// The address of a process's socket. The name is abstract, so no file has it, and it is gone with
/// the process.
struct ShareAddress {
    sockaddr_un name{};
    socklen_t bytes = 0;

    explicit ShareAddress(uint32_t process) {
        name.sun_family = AF_UNIX;
        char* const text = name.sun_path + 1;
        const int length =
            std::snprintf(text, sizeof(name.sun_path) - 1, "advance_step.%08x", process);
        bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                       static_cast<size_t>(length));
    }
    const sockaddr* Get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

}  // namespace advstep
