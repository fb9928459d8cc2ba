// SPDX-License-Identifier: Apache-2.0
// Writes the messages of AdvanceStepFlashInfer's data faults.

#include "op_host/advance_step/advance_step_flashinfer_fault.h"

#include <fmt/core.h>

#include <limits>

#include "acl/acl_base.h"
#include "op_host/advance_step/advance_step_fault.h"
#include "op_kernel/advance_step/advance_step_flashinfer_tiling_data.h"

namespace advstep {
namespace {

constexpr int32_t kMostInt32 = std::numeric_limits<int32_t>::max();

std::string Words(const Fault& fault, const AdvanceStepFlashInferTiling& t) {
    const int64_t* const v = fault.values;
    switch (static_cast<AdvanceStepFault>(fault.kind)) {
        case AdvanceStepFault::kNoPage:
            return fmt::format(
                "query {}: block id {} in column {} of blockTables goes to pagedKvIndices; "
                "expected "
                "0 <= block id <= {}",
                fault.row, v[1], v[0], kMostInt32);
        case AdvanceStepFault::kPageTooLong:
            return fmt::format(
                "query {}: its last block has {} tokens; expected at most {} for "
                "pagedKvLastPageLen",
                fault.row, v[0], kMostInt32);
        case AdvanceStepFault::kTooManyPages:
            return fmt::format(
                "query {}: {} block ids up to it; expected at most {} for pagedKvIndptr", fault.row,
                v[0], kMostInt32);
        case AdvanceStepFault::kIndicesTooSmall:
            return fmt::format(
                "query {}: {} block ids up to it; expected at most the capacity of pagedKvIndices "
                "= "
                "{}",
                fault.row, v[0], v[1]);
        default:
            return AdvanceStepFaultWords("", fault.row, fault, t.rows);
    }
}

}  // namespace

FaultReport DescribeAdvanceStepFlashInferFault(const Fault& fault, const void* payload) {
    const auto& p = *static_cast<const AdvanceStepFlashInferPayload*>(payload);
    return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, Words(fault, p.tiling)};
}

}  // namespace advstep
