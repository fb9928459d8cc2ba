#include "op_host/step/step_fault.h"

#include <fmt/core.h>

#include "acl/acl_base.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {
namespace {

std::string Words(const Fault& fault, const StepTiling& t) {
    const int64_t row = fault.row;
    const int64_t* const v = fault.values;
    switch (static_cast<StepFault>(fault.kind)) {
        case StepFault::kFreeListLen:
            return fmt::format("freeListLen is {}; expected 0 <= freeListLen <= F = {}", v[0],
                               t.freeCapacity);
        case StepFault::kStepLens:
            return fmt::format("stepLens is {}; expected 0 <= stepLens <= B = {}", v[0], t.batch);
        case StepFault::kNeedBlockLen:
            return fmt::format("needBlockLen is {}; expected 0 on entry", v[0]);
        case StepFault::kRecoverLens:
            return fmt::format("recoverLens is {}; expected 0 on entry", v[0]);
        case StepFault::kStackEntryRange:
            return fmt::format("stepBlockList[{}] is slot {}; expected 0 <= slot < B = {}", row,
                               v[0], t.batch);
        case StepFault::kStackEntryTwice:
            return fmt::format(
                "stepBlockList[{}] is slot {}, which stands there before; expected every slot once",
                row, v[0]);
        case StepFault::kStackEntryFlag:
            return fmt::format(
                "stepBlockList[{}] is slot {}, whose isBlockStep is false; expected a preempted "
                "slot",
                row, v[0]);
        case StepFault::kNegativeUsed:
            return fmt::format("slot {}: usedListLen is {}; expected at least 0", row, v[0]);
        case StepFault::kDynamicColumns:
            return fmt::format(
                "slot {}: dynamic columns begin at encoderBlockLens {} and are usedListLen {}; "
                "expected them inside the {} columns of blockTables",
                row, v[0], v[1], t.tableWidth);
        case StepFault::kNegativeDecoder:
            return fmt::format("slot {}: seqLensDecoder is {}; expected at least 0", row, v[0]);
        case StepFault::kNeededColumn:
            return fmt::format(
                "slot {}: seqLensDecoder {} with blockSize {} needs column {} of blockTables; "
                "expected column < W = {}",
                row, v[0], t.blockSize, v[1], t.tableWidth);
        case StepFault::kFreeListOverflow:
            return fmt::format(
                "freeListLen is {} with {} dynamic blocks in use; expected no more than F = {} "
                "together",
                v[0], v[1], t.freeCapacity);
        case StepFault::kNoProgress:
            return fmt::format(
                "no progress: {} blocks are needed, {} are free of a pool of {}, and no slot is "
                "left to preempt; expected less load",
                v[0], v[1], v[2]);
        case StepFault::kGrantOutside:
            return fmt::format(
                "slot {}: recovery grants {} blocks from column encoderBlockLens {}; expected them "
                "inside the {} columns of blockTables",
                row, v[1], v[0], t.tableWidth);
        case StepFault::kRecoveredPrompt:
            return fmt::format("slot {}: oriSeqLensEncoder is {}; expected at least 0", row, v[0]);
        case StepFault::kRecoveredStep:
            return fmt::format("slot {}: stepIdx is {}; expected 0 <= stepIdx <= P = {}", row, v[0],
                               t.preWidth);
        case StepFault::kRecoveredTotal:
            return fmt::format(
                "slot {}: oriSeqLensEncoder {} and stepIdx {} are to be replayed; expected 1 <= "
                "their sum <= L = {}",
                row, v[0], v[1], t.inputWidth);
    }
    return fmt::format("slot {}: fault {}", row, fault.kind);
}

}  // namespace

FaultReport DescribeStepFault(const Fault& fault, const void* payload) {
    const bool noProgress = fault.kind == static_cast<int32_t>(StepFault::kNoProgress);
    return {noProgress ? ACL_ERROR_RT_RESOURCE_ALLOC_FAIL : ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
            Words(fault, static_cast<const StepPayload*>(payload)->tiling)};
}

}  // namespace advstep
