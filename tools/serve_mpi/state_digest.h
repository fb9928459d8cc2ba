// SPDX-License-Identifier: Apache-2.0
// A digest of everything that both operators have in device memory.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "server_observer.h"

namespace serve {

/// Hashes the tensors where they are, in one kernel (a host function in the stream, as those of
/// model_kernels.h). Equal bits give equal digests on every machine.
class StateDigest {
 public:
    /// Digests the state after a step; synchronises the stream.
    void Compute(const StepState& state, Stream& stream);

    /// By tensor, in the order of StepState::arrays.
    const std::vector<uint64_t>& Tensors() const { return tensors_; }
    /// Of all tensors and the number of the step.
    uint64_t OfStep() const { return ofStep_; }
    /// Of all steps so far.
    uint64_t OfRun() const { return ofRun_; }
    /// Bytes that the last Compute has read.
    int64_t Bytes() const { return bytes_; }

 private:
    static void DigestKernel(void* stateDigest);

    const StepState* state_ = nullptr;  // while Compute runs
    std::vector<uint64_t> tensors_;
    uint64_t ofStep_ = 0;
    uint64_t ofRun_ = 0;
    int64_t bytes_ = 0;
};

/// The first tensor in which members of a group differ, and the first member that differs in it.
struct Divergence {
    size_t tensor;
    size_t member;
    size_t reference;  // a member that has what most have; of two halves, what member 0 has
};

/// @param digests  by member, then by tensor
std::optional<Divergence> FindDivergence(const std::vector<std::vector<uint64_t>>& digests);

}  // namespace serve
