// SPDX-License-Identifier: Apache-2.0
// Writes and reads keys of exports.

#include "src/acl/share_keys.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "acl/acl_rt.h"
#include "src/runtime/device/peer_access.h"
#include "src/runtime/lifecycle/device_registry.h"

namespace advstep {
namespace {

const char* NameOf(ShareKind kind) {
    switch (kind) {
        case ShareKind::kBlock:
            return "memory";
        case ShareKind::kNotify:
            return "notify";
        case ShareKind::kEvent:
            return "event";
        default:
            return "physical";
    }
}

// Returns the text of a key for a message. A program may pass any bytes, so those that cannot be
// printed become question marks. Most of a secret is not shown: it may be a key of another kind.
std::string Printable(const char* text, size_t length) {
    constexpr size_t kShown = 36;
    std::string shown(text, std::min(length, kShown));
    shown += length > kShown ? "..." : "";
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c > 0x7E; }, '?');
    return shown;
}

}  // namespace

// The place of a long key, 32 bits in a text, and its secret of 128 bits.
void WriteShareKey(ShareKind kind, const ShareKey& key, char* text) {
    std::memset(text, 0, kKeyRoom);
    (void)std::snprintf(text, kKeyRoom, "advance_step.%s.%08" PRIx64 "%016" PRIx64 "%016" PRIx64,
                        NameOf(kind), key.place, key.secret[0], key.secret[1]);
}

Status ReadShareKey(ShareKind kind, const char* text, const char* argument, ShareKey* key) {
    char again[kKeyRoom] = {};
    ShareKey read;
    const size_t length = strnlen(text, kKeyRoom);
    constexpr size_t kDigits = 40;
    if (length > kDigits && length < kKeyRoom &&
        std::sscanf(text + length - kDigits, "%8" SCNx64 "%16" SCNx64 "%16" SCNx64, &read.place,
                    &read.secret[0], &read.secret[1]) == 3) {
        WriteShareKey(kind, read, again);
    }
    if (read.IsShort() || std::strcmp(again, text) != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is \"{}\", no key of {}; expected one as the export made it", argument,
                     Printable(text, length), NameOf(kind));
    }
    *key = read;
    return {};
}

Status CheckKeyRoom(size_t len) {
    return len >= kKeyRoom
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "len is {}; expected room for at least {} characters", len, kKeyRoom);
}

Status CheckProcessCount(size_t num) {
    return num > 0 && num <= kMostProcesses
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID, "num is {}; expected 1 to {} processes", num,
                       kMostProcesses);
}

Status CheckShareFlags(uint64_t flags, uint64_t bit) {
    return flags == 0 || flags == bit
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID, "flags is {:#x}; expected 0 or {}", flags, bit);
}

void EnablePeersOfImport(int32_t deviceId, int32_t owner, PeerAccessRoom* room) noexcept {
    const Device* own = nullptr;
    const Device* peer = nullptr;
    try {
        if (owner == deviceId || !TheDeviceRegistry().Find(deviceId, &own).ok() ||
            !TheDeviceRegistry().Find(owner, &peer).ok()) {
            return;
        }
    } catch (const std::bad_alloc&) {
        return;  // there is no such device, and no memory for the words
    }
    room->Enable(*own, *peer);
}

}  // namespace advstep
