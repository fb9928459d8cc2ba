// SPDX-License-Identifier: Apache-2.0
// Tells the address sanitizer which pages of a pool are in use.

#pragma once

#include <cstddef>

// clang 14 has the question and not the macro, g++ 12 has the macro and not the question.
#if defined(__SANITIZE_ADDRESS__)
#define ADVANCE_STEP_POISONS_PAGES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADVANCE_STEP_POISONS_PAGES 1
#endif
#endif

#ifdef ADVANCE_STEP_POISONS_PAGES
#include <sanitizer/asan_interface.h>
#endif

namespace advstep {

// The sanitizer knows nothing of pages that are parted here, so it is told by hand. Poison belongs
// to addresses: whoever unmaps them removes it, or the next owner of the addresses gets false
// reports.
#ifdef ADVANCE_STEP_POISONS_PAGES
inline constexpr bool kPoisonsPages = true;
inline void PoisonPages(const void* begin, size_t bytes) {
    __asan_poison_memory_region(begin, bytes);
}
inline void UnpoisonPages(const void* begin, size_t bytes) {
    __asan_unpoison_memory_region(begin, bytes);
}
#else
inline constexpr bool kPoisonsPages = false;
inline void PoisonPages(const void*, size_t) {}
inline void UnpoisonPages(const void*, size_t) {}
#endif

}  // namespace advstep
