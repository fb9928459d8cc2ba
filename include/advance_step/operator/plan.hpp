// SPDX-License-Identifier: Apache-2.0
/// The arguments of an operator's function Plan, and the division of rows among cores. Part of
/// operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_PLAN_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_PLAN_HPP_

#include <cstdint>

#include "advance_step/operator/core.h"
#include "advance_step/operator/environment.hpp"
#include "advance_step/operator/kernel.hpp"
#include "advance_step/operator/tensor_view.hpp"

namespace advance_step::op {

/// A call that is being planned.
struct Request {
    const TensorView* views;                 ///< in signature order
    AdvStepOperatorEnvironment environment;  ///< the settings and the device
};

/// The plan of a call. An operator's function Plan fills it. Payload is plain data, which is copied
/// into the launch.
template <typename Payload>
struct Planned {
    Payload payload{};                       ///< tiling; the tensors' addresses are set afterwards
    const KernelProgram* program = nullptr;  ///< required; static data
    int32_t coreCount = 1;                   ///< cores with work, at most environment.vectorCores
    int64_t rows = 0;             ///< rows of work: 32768 and more may run on several threads
    uint64_t workspaceBytes = 0;  ///< WorkspaceLayout::bytes(); 0: phase two needs no workspace
    int64_t workspaceAt = -1;     ///< offset in the payload of the workspace's address; -1: none
    bool allDistinct = false;     ///< read tensors too must not overlap each other
    /// The launch takes at most as long as so many rows of about 2 ns. 0: that is not known, and
    /// the program's evenRows and the rows tell, if anything.
    int64_t work = 0;
};

/// A division of rows among cores.
struct Cores {
    int32_t count;        ///< cores with work; 0 if there are no rows
    int64_t rowsPerCore;  ///< at least 1; the last core may have fewer
};

/// Returns a / b, rounded up, for a >= 0 and b >= 1. It does not overflow.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// Divides rows evenly among at most `most` cores. RowsOf returns the rows of each core.
inline Cores CutRows(int64_t rows, int32_t most) {
    const int64_t rowsPerCore = rows > 0 ? CeilDiv(rows, most) : 1;
    return {static_cast<int32_t>(CeilDiv(rows, rowsPerCore)), rowsPerCore};
}

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_PLAN_HPP_
