// SPDX-License-Identifier: Apache-2.0
// A C program of HCCL as it is built for CANN: prints what the ranks have in common.
#include <hccl/hccl.h>
#include <hccl/hccl_types.h>
#include <stdio.h>

#include "acl/acl.h"

enum { kRanks = 2, kCount = 4 };

#define CHECK(call)                                          \
    do {                                                     \
        if ((call) != 0) {                                   \
            printf("%s: %s\n", #call, aclGetRecentErrMsg()); \
            return 1;                                        \
        }                                                    \
    } while (0)

int main(void) {
    int32_t devices[kRanks] = {0, 1};
    HcclComm comms[kRanks];
    aclrtStream streams[kRanks];
    void* data[kRanks];
    float values[kCount] = {1, 2, 3, 4};
    CHECK(aclInit(NULL));
    CHECK(HcclCommInitAll(kRanks, devices, comms));
    for (int rank = 0; rank < kRanks; ++rank) {
        CHECK(aclrtSetDevice(devices[rank]));
        CHECK(aclrtCreateStream(&streams[rank]));
        CHECK(aclrtMalloc(&data[rank], sizeof values, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMemcpy(data[rank], sizeof values, values, sizeof values,
                          ACL_MEMCPY_HOST_TO_DEVICE));
        CHECK(HcclAllReduce(data[rank], data[rank], kCount, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                            comms[rank], streams[rank]));
    }
    for (int rank = 0; rank < kRanks; ++rank) {
        CHECK(aclrtSetDevice(devices[rank]));
        CHECK(aclrtSynchronizeStream(streams[rank]));
        CHECK(aclrtMemcpy(values, sizeof values, data[rank], sizeof values,
                          ACL_MEMCPY_DEVICE_TO_HOST));
        printf("%g %g %g %g\n", values[0], values[1], values[2], values[3]);
        CHECK(HcclCommDestroy(comms[rank]));
    }
    CHECK(aclFinalize());
    return 0;
}
