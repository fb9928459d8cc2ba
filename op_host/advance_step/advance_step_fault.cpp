#include "op_host/advance_step/advance_step_fault.h"

#include <fmt/core.h>

#include <limits>

#include "acl/acl_base.h"
#include "op_kernel/advance_step/advance_step_tiling_data.h"

namespace advstep {
namespace {

std::string Divergence(const Fault& fault) {
    const int64_t exact = fault.values[1];
    const std::string there = exact == std::numeric_limits<int64_t>::min()
                                  ? "would not get a slot"
                                  : fmt::format("would get slot {}", exact);
    return fmt::format(
        "query {}: gets slot {}, and under conformance exact {}; expected both alike", fault.row,
        fault.values[0], there);
}

std::string Words(const Fault& fault, const AdvanceStepTiling& t) {
    const int64_t* const v = fault.values;
    switch (static_cast<AdvanceStepFault>(fault.kind)) {
        case AdvanceStepFault::kNegativePosition:
            return fmt::format("query {}: seqLens is {}; expected at least 0", fault.row, v[0]);
        case AdvanceStepFault::kColumnOutside:
            return fmt::format(
                "query {}: position {} with blockSize {} needs column {} of blockTables; expected "
                "column < maxBlocks = {}",
                fault.row, v[0], t.blockSize, v[1], t.maxBlocks);
        case AdvanceStepFault::kNegativeBlock:
            return fmt::format(
                "query {}: position {} has block id {} in column {} of blockTables; expected at "
                "least 0",
                fault.row, v[0], v[2], v[1]);
        case AdvanceStepFault::kLengthTooLarge:
            return fmt::format("query {}: seqLens is {}; expected one more to fit its dtype",
                               fault.row, v[0]);
        case AdvanceStepFault::kSlotTooLarge:
            return fmt::format(
                "query {}: position {} in block {} with blockSize {} has a slot that does not fit "
                "slotMapping's dtype; expected a smaller block id",
                fault.row, v[0], v[2], t.blockSize);
        case AdvanceStepFault::kFlatOutside:
            return fmt::format(
                "query {}: position {} with blockSize {} reads entry {} of blockTables; expected 0 "
                "<= entry < numSeqs * maxBlocks = {}",
                fault.row, v[0], t.blockSize, v[1], t.numSeqs * t.maxBlocks);
        case AdvanceStepFault::kDivergence:
            return Divergence(fault);
        case AdvanceStepFault::kPaddingDivergence:
            return fmt::format(
                "padding row {}: is blanked, and under conformance exact would stay; expected both "
                "alike",
                fault.row);
    }
    return fmt::format("row {}: fault {}", fault.row, fault.kind);
}

}  // namespace

FaultReport DescribeAdvanceStepFault(const Fault& fault, const void* payload) {
    const auto& p = *static_cast<const AdvanceStepPayload*>(payload);
    return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, Words(fault, p.tiling)};
}

}  // namespace advstep
