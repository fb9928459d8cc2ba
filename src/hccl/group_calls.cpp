// SPDX-License-Identifier: Apache-2.0
// The calls of hccl_comm.h for groups of operators.

#include "hccl/hccl_comm.h"
#include "src/hccl/operation_group.h"

using namespace advstep::hccl;

HcclResult HcclGroupStart(void) {
    OperationGroup::Start();
    return HCCL_SUCCESS;
}

HcclResult HcclGroupEnd(void) {
    return Boundary("HcclGroupEnd", [] { return OperationGroup::End(); });
}
