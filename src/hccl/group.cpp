// SPDX-License-Identifier: Apache-2.0
// Keys of groups.

#include "src/hccl/group.h"

#include <sys/random.h>

#include <cstring>
#include <system_error>

namespace advstep::hccl {
namespace {

// The finaliser of SplitMix64.
uint64_t Mix(uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

}  // namespace

GroupKey RandomKey() {
    GroupKey key{};
    if (getrandom(key.data(), sizeof key, 0) != static_cast<ssize_t>(sizeof key)) {
        throw std::system_error(errno, std::generic_category(), "getrandom");
    }
    return key;
}

GroupKey DeriveKey(const GroupKey& key, const void* data, size_t bytes) {
    GroupKey made{Mix(key[0] ^ bytes), Mix(key[1] + bytes)};
    const auto* next = static_cast<const char*>(data);
    while (bytes > 0) {
        uint64_t word = 0;
        const size_t part = bytes < sizeof word ? bytes : sizeof word;
        std::memcpy(&word, next, part);
        made = {Mix(made[0] ^ word), Mix(made[1] + (word ^ made[0]))};
        next += part;
        bytes -= part;
    }
    return made;
}

}  // namespace advstep::hccl
