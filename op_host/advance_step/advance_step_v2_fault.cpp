// SPDX-License-Identifier: Apache-2.0
// Writes the messages of AdvanceStepV2's data faults.

#include "op_host/advance_step/advance_step_v2_fault.h"

#include <fmt/core.h>

#include <limits>

#include "acl/acl_base.h"
#include "op_host/advance_step/advance_step_fault.h"
#include "op_kernel/advance_step/advance_step_v2_tiling_data.h"

namespace advstep {
namespace {

std::string Divergence(const std::string& who, const int64_t* v) {
    const std::string there = v[3] == std::numeric_limits<int64_t>::min()
                                  ? "would be refused"
                                  : fmt::format("would get position {} and slot {}", v[2], v[3]);
    return fmt::format(
        "{}: gets position {} and slot {}, and under conformance exact {}; expected both alike",
        who, v[0], v[1], there);
}

std::string Words(const Fault& fault, const AdvanceStepV2Tiling& t) {
    const int64_t* const v = fault.values;
    const std::string who = fmt::format("query {} (row {})", fault.row / t.rowsPerQuery, fault.row);
    switch (static_cast<AdvanceStepFault>(fault.kind)) {
        case AdvanceStepFault::kNothingAccepted:
            return fmt::format(
                "{}: sampledTokenIds begins with {}; expected at least one token, which is not "
                "negative",
                who, v[0]);
        case AdvanceStepFault::kPositionTooLarge:
            return fmt::format(
                "{}: inputPositions is {} and acceptedNum {}; expected a new position that fits 64 "
                "bits",
                who, v[0], v[1]);
        case AdvanceStepFault::kNegativePosition:
            return fmt::format("{}: position is {}; expected at least 0", who, v[0]);
        case AdvanceStepFault::kLengthTooLarge:
            return fmt::format("{}: position is {}; expected one more to fit seqLens", who, v[0]);
        case AdvanceStepFault::kLengthWraps:
            return fmt::format("{}: position is {}; expected one more to fit 32 bits", who, v[0]);
        case AdvanceStepFault::kSlotWraps:
            return fmt::format(
                "{}: position {} in block {} with blockSize {} has a slot that is negative in 32 "
                "bits; expected a smaller block id",
                who, v[0], v[2], t.blockSize);
        case AdvanceStepFault::kPlaceDivergence:
            return Divergence(who, v);
        default:
            break;
    }
    const std::string words = PlaceFaultWords(who, fault, t.blockSize, t.maxBlocks);
    return words.empty() ? fmt::format("{}: fault {}", who, fault.kind) : words;
}

}  // namespace

FaultReport DescribeAdvanceStepV2Fault(const Fault& fault, const void* payload) {
    const auto& p = *static_cast<const AdvanceStepV2Payload*>(payload);
    return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, Words(fault, p.tiling)};
}

}  // namespace advstep
