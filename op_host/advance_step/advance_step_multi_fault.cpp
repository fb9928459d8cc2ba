// SPDX-License-Identifier: Apache-2.0
// Writes the messages of AdvanceStepMulti's data faults.

#include "op_host/advance_step/advance_step_multi_fault.h"

#include <fmt/core.h>

#include "acl/acl_base.h"
#include "op_host/advance_step/advance_step_fault.h"
#include "op_kernel/advance_step/advance_step_multi_tiling_data.h"

namespace advstep {

FaultReport DescribeAdvanceStepMultiFault(const Fault& fault, const void* payload) {
    const auto& p = *static_cast<const AdvanceStepMultiPayload*>(payload);
    const auto at = AdvanceStepMultiRow::Of(p.tiling, fault.row);
    return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
            AdvanceStepFaultWords(fmt::format("step {}, ", at.step), at.row, fault, p.tiling.rows)};
}

}  // namespace advstep
