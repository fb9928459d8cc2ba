// SPDX-License-Identifier: Apache-2.0
/// The layout of a workspace: sizes for phase one, offsets for the kernel. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_WORKSPACE_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_WORKSPACE_HPP_

#include <cstddef>
#include <cstdint>

namespace advance_step::op {

/// The layout of arrays in a call's workspace. Phase one takes the size from it, and the kernel the
/// offsets. Offsets count from the workspace's first aligned byte, which phase two finds and puts
/// into the payload; so the caller's address may have any alignment.
class WorkspaceLayout {
 public:
    /// The alignment of every array, in bytes.
    static constexpr uint64_t kAlignment = 64;

    /// Books an array. @return its offset in bytes
    template <typename T>
    int64_t Book(int64_t count) {
        static_assert(alignof(T) <= kAlignment, "a workspace is aligned to 64 bytes");
        const uint64_t offset = bytes_;
        const uint64_t size = static_cast<uint64_t>(count) * sizeof(T);
        bytes_ += (size + kAlignment - 1) / kAlignment * kAlignment;
        return static_cast<int64_t>(offset);
    }

    /// The workspace size that phase one reports.
    uint64_t bytes() const { return bytes_ == 0 ? 0 : bytes_ + kAlignment - 1; }

 private:
    uint64_t bytes_ = 0;
};

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_WORKSPACE_HPP_
