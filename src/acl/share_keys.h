// SPDX-License-Identifier: Apache-2.0
// Keys of exports as text, and the flags and lists that all exports have.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/memory/memory_sharing.h"

namespace advstep {

class PeerAccessRoom;

constexpr size_t kKeyRoom = 65;           // a key and its NUL
constexpr size_t kMostProcesses = 65536;  // that one call adds to a white list

/// Writes the key as text. *text has room for kKeyRoom characters.
void WriteShareKey(ShareKind kind, const ShareKey& key, char* text);

/// Reads a key. `argument` is the name of the argument that has it. 107000: the text is no key of
/// that kind.
Status ReadShareKey(ShareKind kind, const char* text, const char* argument, ShareKey* key);

/// 107000: `len` is less than kKeyRoom.
Status CheckKeyRoom(size_t len);

/// 107000: `num` is 0 or more than kMostProcesses.
Status CheckProcessCount(size_t num);

/// 107000: flags is neither 0 nor `bit`.
Status CheckShareFlags(uint64_t flags, uint64_t bit);

/// Lets the importing device and the owner's device access each other. Nothing happens if both have
/// the same number, or if this process has no device of the owner's number. The import comes first,
/// because it may fail.
void EnablePeersOfImport(int32_t deviceId, int32_t owner, PeerAccessRoom* room) noexcept;

}  // namespace advstep
