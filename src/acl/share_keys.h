// SPDX-License-Identifier: Apache-2.0
// Keys of exports as text, and the flags and lists that all exports have.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/memory/share_protocol.h"

namespace advstep {

constexpr size_t kKeyRoom = 65;           // a key and its NUL
constexpr size_t kMostProcesses = 65536;  // of one list

/// Writes the key as text. *text has room for kKeyRoom characters.
void WriteShareKey(ShareKind kind, ShareKey key, char* text);

/// Reads a key. `argument` is the name of the argument that has it. 107000: the text is no key of
/// that kind.
Status ReadShareKey(ShareKind kind, const char* text, const char* argument, ShareKey* key);

Status CheckKeyRoom(size_t len);
/// 107000: `num`, of a list of processes, is 0 or more than kMostProcesses.
Status CheckProcessCount(size_t num);

/// 107000: flags is neither 0 nor `bit`.
Status CheckShareFlags(uint64_t flags, uint64_t bit);

/// Lets the devices of an import access each other. An owner that this process does not have, or
/// the device itself, is nothing to do.
void EnablePeersOfImport(int32_t deviceId, int32_t owner);

}  // namespace advstep
