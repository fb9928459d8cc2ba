// SPDX-License-Identifier: Apache-2.0
// The calls of hccl_comm.h that only refuse.

#include "hccl/hccl_comm.h"
#include "src/hccl/outcome.h"

using advstep::hccl::RecordOutcome;

namespace {

HcclResult Refuse(const char* call, const char* reason) {
    return RecordOutcome(call, HCCL_E_NOT_SUPPORT, reason);
}

constexpr char kNoRepair[] =
    "a communicator that has failed cannot be repaired; expected HcclCommDestroy and a new one";
constexpr char kNoZeroCopy[] =
    "operators use any device memory without a copy; expected no call for it";

}  // namespace

HcclResult HcclCommSuspend(HcclComm) { return Refuse("HcclCommSuspend", kNoRepair); }
HcclResult HcclCommResume(HcclComm) { return Refuse("HcclCommResume", kNoRepair); }

HcclResult HcclCommSetMemoryRange(HcclComm, void*, size_t, size_t, uint64_t) {
    return Refuse("HcclCommSetMemoryRange", kNoZeroCopy);
}
HcclResult HcclCommUnsetMemoryRange(HcclComm, void*) {
    return Refuse("HcclCommUnsetMemoryRange", kNoZeroCopy);
}
HcclResult HcclCommActivateCommMemory(HcclComm, void*, size_t, size_t, aclrtDrvMemHandle,
                                      uint64_t) {
    return Refuse("HcclCommActivateCommMemory", kNoZeroCopy);
}
HcclResult HcclCommDeactivateCommMemory(HcclComm, void*) {
    return Refuse("HcclCommDeactivateCommMemory", kNoZeroCopy);
}

HcclResult HcclCommWorkingDevNicSet(HcclComm, uint32_t*, bool*, uint32_t) {
    return Refuse("HcclCommWorkingDevNicSet",
                  "devices have no network cards of their own; expected no use of backup ones");
}
