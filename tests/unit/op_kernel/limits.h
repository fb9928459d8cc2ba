// SPDX-License-Identifier: Apache-2.0
// The largest values of the types that tensors have.
#ifndef ADVANCE_STEP_TESTS_UNIT_OP_KERNEL_LIMITS_H_
#define ADVANCE_STEP_TESTS_UNIT_OP_KERNEL_LIMITS_H_

#include <cstdint>
#include <limits>

namespace unit {

inline constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();
inline constexpr int64_t kMost64 = std::numeric_limits<int64_t>::max();

}  // namespace unit

#endif
