// SPDX-License-Identifier: Apache-2.0
/// What an operator's function Plan gets and fills, and cuts of rows. Part of operator.h.
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
    AdvStepOperatorEnvironment environment;  ///< what the plan may depend on besides the arguments
};

/// The plan of a call, which an operator's function Plan fills. Payload is plain data: it is copied
/// into the launch.
template <typename Payload>
struct Planned {
    Payload payload{};                       ///< tiling; the tensors' addresses are set afterwards
    const KernelProgram* program = nullptr;  ///< required; static data
    int32_t coreCount = 1;                   ///< cores with work, at most environment.vectorCores
    int64_t rows = 0;                        ///< of work: 32768 and more may run on several threads
    uint64_t workspaceBytes = 0;             ///< WorkspaceLayout::bytes()
    int64_t workspaceAt = -1;  ///< offset in the payload of the workspace's address; -1: none
    bool allDistinct = false;  ///< tensors that are only read must not overlap each other either
};

/// Rows that are cut over cores.
struct Cores {
    int32_t count;        ///< cores with work, 0 without rows
    int64_t rowsPerCore;  ///< at least 1; the last core may have fewer
};

/// a / b, rounded up; a >= 0, b >= 1. It does not overflow.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// Cuts rows into even parts for at most `most` cores: the tiling that RowsOf reads.
inline Cores CutRows(int64_t rows, int32_t most) {
    const int64_t rowsPerCore = rows > 0 ? CeilDiv(rows, most) : 1;
    return {static_cast<int32_t>(CeilDiv(rows, rowsPerCore)), rowsPerCore};
}

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_PLAN_HPP_
