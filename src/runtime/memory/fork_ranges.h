// SPDX-License-Identifier: Apache-2.0
// Things that the child of a fork does not keep: descriptors, and shared pages at the parent's
// addresses.

#pragma once

#include <cstddef>
#include <cstdint>

namespace advstep {

/// A range of shared pages, or a descriptor. Records are reused and never freed, and all of them
/// stay in one list, so that the child of a fork can walk it whatever the parent's threads were
/// doing.
struct ForkRecord;

/// Makes the child of a later fork see these pages copy-on-write, so that its writes do not reach
/// the parent.
ForkRecord* EnterForkRange(void* address, size_t bytes, int file, uint64_t offset);
/// Makes the child of a later fork close the descriptor.
ForkRecord* EnterForkDescriptor(int descriptor);
/// Forgets the record. The caller calls it before it unmaps the range or closes the descriptor.
/// Null is allowed.
void LeaveFork(ForkRecord* record) noexcept;

}  // namespace advstep
