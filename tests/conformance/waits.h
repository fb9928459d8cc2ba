// Timeouts of the tests of waits.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_WAITS_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_WAITS_H_

namespace conformance {

inline constexpr int kShort = 5;      // milliseconds; to expire
inline constexpr int kLong = 100000;  // milliseconds; not to expire

}  // namespace conformance

#endif
