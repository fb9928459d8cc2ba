// SPDX-License-Identifier: Apache-2.0
// Timeouts of the tests of waits.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_WAITS_H_
#define ADVANCE_STEP_TESTS_SUPPORT_WAITS_H_

namespace support {

inline constexpr int kShort = 5;      // milliseconds; to expire
inline constexpr int kLong = 100000;  // milliseconds; not to expire

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_WAITS_H_
