// SPDX-License-Identifier: Apache-2.0
// Writes the messages of AdvanceStep's data faults.

#include "op_host/advance_step/advance_step_fault.h"

#include <fmt/core.h>

#include <limits>

#include "acl/acl_base.h"
#include "op_kernel/advance_step/advance_step_tiling_data.h"

namespace advstep {
namespace {

std::string Divergence(const std::string& who, const Fault& fault) {
    const int64_t exact = fault.values[1];
    const std::string there = exact == std::numeric_limits<int64_t>::min()
                                  ? "would not get a slot"
                                  : fmt::format("would get slot {}", exact);
    return fmt::format("{}: gets slot {}, and under conformance exact {}; expected both alike", who,
                       fault.values[0], there);
}

}  // namespace

std::string PlaceFaultWords(const std::string& who, const Fault& fault, int64_t blockSize,
                            int64_t maxBlocks) {
    const int64_t* const v = fault.values;
    switch (static_cast<AdvanceStepFault>(fault.kind)) {
        case AdvanceStepFault::kColumnOutside:
            return fmt::format(
                "{}: position {} with blockSize {} needs column {} of blockTables; expected column "
                "< maxBlocks = {}",
                who, v[0], blockSize, v[1], maxBlocks);
        case AdvanceStepFault::kNegativeBlock:
            return fmt::format(
                "{}: position {} has block id {} in column {} of blockTables; expected at least 0",
                who, v[0], v[2], v[1]);
        case AdvanceStepFault::kSlotTooLarge:
            return fmt::format(
                "{}: position {} in block {} with blockSize {} has a slot that does not fit "
                "slotMapping's dtype; expected a smaller block id",
                who, v[0], v[2], blockSize);
        default:
            return "";
    }
}

std::string AdvanceStepFaultWords(const std::string& prefix, int64_t row, const Fault& fault,
                                  const AdvanceStepTiling& tiling) {
    const int64_t* const v = fault.values;
    const std::string who = fmt::format("{}query {}", prefix, row);
    switch (static_cast<AdvanceStepFault>(fault.kind)) {
        case AdvanceStepFault::kNegativePosition:
            return fmt::format("{}: seqLens is {}; expected at least 0", who, v[0]);
        case AdvanceStepFault::kLengthTooLarge:
            return fmt::format("{}: seqLens is {}; expected one more to fit its dtype", who, v[0]);
        case AdvanceStepFault::kFlatOutside:
            return fmt::format(
                "{}: position {} with blockSize {} reads entry {} of blockTables; expected 0 <= "
                "entry < numSeqs * maxBlocks = {}",
                who, v[0], tiling.blockSize, v[1], tiling.numSeqs * tiling.maxBlocks);
        case AdvanceStepFault::kDivergence:
            return Divergence(who, fault);
        case AdvanceStepFault::kPaddingDivergence:
            return fmt::format(
                "{}padding row {}: is blanked, and under conformance exact would stay; expected "
                "both alike",
                prefix, row);
        default:
            break;
    }
    const std::string words = PlaceFaultWords(who, fault, tiling.blockSize, tiling.maxBlocks);
    return words.empty() ? fmt::format("{}row {}: fault {}", prefix, row, fault.kind) : words;
}

FaultReport DescribeAdvanceStepFault(const Fault& fault, const void* payload) {
    const auto& p = *static_cast<const AdvanceStepPayload*>(payload);
    return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
            AdvanceStepFaultWords("", fault.row, fault, p.tiling)};
}

}  // namespace advstep
