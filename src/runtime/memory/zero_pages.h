// SPDX-License-Identifier: Apache-2.0
// Zeros over large ranges, which cost no memory.

#pragma once

#include <cstddef>

namespace advstep {

/// Fills a range that has been checked with zeros. In a range of 2 MiB or more the pages of files
/// in memory that nobody has touched stay untouched; one of 64 MiB or more gives back all its
/// pages. So caches that a program clears when it allocates them take no memory before they are
/// used. Everything else is written: small ranges, the ends that are no whole pages, and pages that
/// the host gives back only of files.
void FillWithZeros(void* address, size_t bytes) noexcept;

}  // namespace advstep
