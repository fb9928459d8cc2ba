// SPDX-License-Identifier: Apache-2.0
// The sanitizers that a test is compiled with, by g++ or by clang.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_SANITIZERS_H_
#define ADVANCE_STEP_TESTS_SUPPORT_SANITIZERS_H_

#ifdef __has_feature
#define ADVANCE_STEP_HAS_FEATURE(name) __has_feature(name)
#else
#define ADVANCE_STEP_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || ADVANCE_STEP_HAS_FEATURE(thread_sanitizer)
#define ADVANCE_STEP_THREAD_SANITIZER 1
#else
#define ADVANCE_STEP_THREAD_SANITIZER 0
#endif

namespace support {

#if defined(__SANITIZE_ADDRESS__) || ADVANCE_STEP_HAS_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
inline constexpr bool kThreadSanitizer = ADVANCE_STEP_THREAD_SANITIZER;

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_SANITIZERS_H_
