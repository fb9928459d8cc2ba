// SPDX-License-Identifier: Apache-2.0
// Writes the messages of Step's data faults.

#include "op_host/step/step_fault.h"

#include <fmt/core.h>

#include "acl/acl_base.h"
#include "op_kernel/step/step_rules.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {
namespace {

std::string Words(const Fault& fault, const StepTiling& t) {
    const char* const words = StepRuleWords(fault.kind);
    if (words == nullptr) {
        return fmt::format("slot {}: fault {}", fault.row, fault.kind);
    }
    const auto dim = [](const char* name, int64_t value) {
        return fmt::format("{} = {}", name, value);
    };
    return fmt::format(fmt::runtime(words), fault.values[0], fault.values[1], fault.values[2],
                       fmt::arg("row", fault.row), fmt::arg("B", dim("B", t.batch)),
                       fmt::arg("W", dim("W", t.tableWidth)),
                       fmt::arg("F", dim("F", t.freeCapacity)),
                       fmt::arg("L", dim("L", t.inputWidth)), fmt::arg("P", dim("P", t.preWidth)),
                       fmt::arg("columns", t.tableWidth), fmt::arg("blockSize", t.blockSize));
}

}  // namespace

FaultReport DescribeStepFault(const Fault& fault, const void* payload) {
    const bool noProgress = fault.kind == static_cast<int32_t>(StepFault::kNoProgress);
    return {noProgress ? ACL_ERROR_RT_RESOURCE_ALLOC_FAIL : ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
            Words(fault, static_cast<const StepPayload*>(payload)->tiling)};
}

}  // namespace advstep
