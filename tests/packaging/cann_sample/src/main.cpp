// SPDX-License-Identifier: Apache-2.0
// One decode step of two queries, as a sample for CANN would have it: C++11, both phases, checks of
// every code.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_advance_step.h"

#define CHECK(call)                                                    \
    do {                                                               \
        const int code = (call);                                       \
        if (code != ACL_SUCCESS) {                                     \
            printf("%s: %d, %s\n", #call, code, aclGetRecentErrMsg()); \
            return 1;                                                  \
        }                                                              \
    } while (0)

namespace {

struct Array {
    std::vector<int64_t> shape;
    std::vector<int64_t> values;
    void* device;
    aclTensor* tensor;

    size_t Bytes() const { return values.size() * sizeof(int64_t); }
};

int Upload(Array& array) {
    CHECK(aclrtMalloc(&array.device, array.Bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(array.device, array.Bytes(), array.values.data(), array.Bytes(),
                      ACL_MEMCPY_HOST_TO_DEVICE));
    array.tensor =
        aclCreateTensor(array.shape.data(), array.shape.size(), ACL_INT64, nullptr, 0,
                        ACL_FORMAT_ND, array.shape.data(), array.shape.size(), array.device);
    return array.tensor == nullptr ? 1 : 0;
}

}  // namespace

int main() {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));

    std::vector<Array> arrays = {
        {{3}, {0, 0, 0}, nullptr, nullptr},                       // inputTokens
        {{2, 1}, {101, 102}, nullptr, nullptr},                   // sampledTokenIds
        {{3}, {0, 0, 0}, nullptr, nullptr},                       // inputPositions
        {{3}, {5, 8, 0}, nullptr, nullptr},                       // seqLens
        {{3}, {0, 0, 0}, nullptr, nullptr},                       // slotMapping
        {{3, 3}, {2, 7, 0, 4, 0, 6, 0, 0, 0}, nullptr, nullptr},  // blockTables
    };
    for (Array& array : arrays) {
        if (Upload(array) != 0) {
            return 1;
        }
    }
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK(aclnnAdvanceStepGetWorkspaceSize(arrays[0].tensor, arrays[1].tensor, arrays[2].tensor,
                                           arrays[3].tensor, arrays[4].tensor, arrays[5].tensor, 3,
                                           2, 4, &workspaceSize, &executor));
    void* workspace = nullptr;
    if (workspaceSize > 0) {
        CHECK(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    CHECK(aclnnAdvanceStep(workspace, workspaceSize, executor, stream));
    CHECK(aclrtSynchronizeStream(stream));

    Array& slots = arrays[4];
    CHECK(aclrtMemcpy(slots.values.data(), slots.Bytes(), slots.device, slots.Bytes(),
                      ACL_MEMCPY_DEVICE_TO_HOST));
    printf("%d %d\n", static_cast<int>(slots.values[0]), static_cast<int>(slots.values[1]));

    for (Array& array : arrays) {
        CHECK(aclDestroyTensor(array.tensor));
        CHECK(aclrtFree(array.device));
    }
    if (workspace != nullptr) {
        CHECK(aclrtFree(workspace));
    }
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return slots.values[0] == 29 && slots.values[1] == 24 ? 0 : 1;
}
