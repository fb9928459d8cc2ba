// SPDX-License-Identifier: Apache-2.0
/// The layout of a workspace: its size for phase one, and offsets for the kernel. Part of
/// operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_WORKSPACE_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_WORKSPACE_HPP_

#include <cstddef>
#include <cstdint>

namespace advance_step::op {

/// The layout of arrays in a call's workspace. Phase one reports its size, and the kernel gets its
/// offsets. They count from the workspace's first aligned byte, whose address phase two puts into
/// the payload. So the caller's address may have any alignment.
class WorkspaceLayout {
 public:
    /// The alignment of every array, in bytes.
    static constexpr uint64_t kAlignment = 64;

    /// Adds an array of count elements. A count below 0, or too many bytes for 64 bits, make a
    /// layout that phase one refuses. @return its offset in bytes
    template <typename T>
    int64_t Book(int64_t count) {
        static_assert(alignof(T) <= kAlignment, "a workspace is aligned to 64 bytes");
        const uint64_t offset = bytes_;
        uint64_t end = 0;
        if (count < 0 ||
            __builtin_mul_overflow(static_cast<uint64_t>(count), uint64_t{sizeof(T)}, &end) ||
            __builtin_add_overflow(end, bytes_, &end) || end > kMost) {
            bytes_ = kTooMany;
        } else {
            bytes_ = (end + kAlignment - 1) / kAlignment * kAlignment;
        }
        return static_cast<int64_t>(offset);
    }

    /// Returns the workspace size in bytes that phase one reports; UINT64_MAX: too many.
    uint64_t bytes() const {
        return bytes_ == 0 || bytes_ == kTooMany ? bytes_ : bytes_ + kAlignment - 1;
    }

 private:
    static constexpr uint64_t kTooMany = ~uint64_t{0};
    static constexpr uint64_t kMost = ~uint64_t{0} >> 2;

    uint64_t bytes_ = 0;  // a multiple of kAlignment, or kTooMany
};

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_WORKSPACE_HPP_
