// SPDX-License-Identifier: Apache-2.0
// Ten decode steps of three sequences with one repeatable executor: plan once, run every step.
// Prints the slot that every sequence's new token gets.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"

namespace {

constexpr int64_t kNumQueries = 3;
constexpr int64_t kNumSeqs = kNumQueries + 1;  // standard conformance wants a padding row
constexpr int64_t kBlockSize = 4;
constexpr int64_t kMaxBlocks = 5;
constexpr int kSteps = 10;

void Check(int code, const char* call) {
    if (code != 0) {
        const char* message = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s returned %d: %s\n", call, code,
                     message != nullptr ? message : "no message");
        std::exit(EXIT_FAILURE);  // NOLINT(concurrency-mt-unsafe): nothing else exits
    }
}
#define CHECK(call) Check((call), #call)

// An int64 tensor with its device memory.
class DeviceTensor {
 public:
    DeviceTensor(int64_t rows, int64_t columns, const std::vector<int64_t>& values)
        : bytes_(values.size() * sizeof(int64_t)) {
        CHECK(aclrtMalloc(&address_, bytes_, ACL_MEM_MALLOC_HUGE_FIRST));
        Set(values);
        const int64_t shape[] = {rows, columns};
        tensor_ =
            aclCreateTensor(shape, 2, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape, 2, address_);
        Check(tensor_ == nullptr, "aclCreateTensor");
    }
    ~DeviceTensor() {
        CHECK(aclDestroyTensor(tensor_));
        CHECK(aclrtFree(address_));
    }
    DeviceTensor(const DeviceTensor&) = delete;
    DeviceTensor& operator=(const DeviceTensor&) = delete;

    void Set(const std::vector<int64_t>& values) {
        CHECK(aclrtMemcpy(address_, bytes_, values.data(), bytes_, ACL_MEMCPY_HOST_TO_DEVICE));
    }
    std::vector<int64_t> Get() const {
        std::vector<int64_t> values(bytes_ / sizeof(int64_t));
        CHECK(aclrtMemcpy(values.data(), bytes_, address_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST));
        return values;
    }
    const aclTensor* Handle() const { return tensor_; }

 private:
    size_t bytes_;
    void* address_ = nullptr;
    aclTensor* tensor_ = nullptr;
};

void DecodeLoop(aclrtStream stream) {
    DeviceTensor inputTokens(kNumSeqs, 1, {0, 0, 0, 0});
    DeviceTensor sampledTokenIds(kNumQueries, 1, {0, 0, 0});
    DeviceTensor inputPositions(kNumSeqs, 1, {0, 0, 0, 0});
    DeviceTensor seqLens(kNumSeqs, 1, {6, 3, 9, 0});  // prompts in the KV cache already
    DeviceTensor slotMapping(kNumSeqs, 1, {-1, -1, -1, -1});
    DeviceTensor blockTables(kNumSeqs, kMaxBlocks, {4,  0,  9,  12, -1,  //
                                                    7,  2,  5,  13, -1,  //
                                                    1,  3,  8,  10, 11,  //
                                                    -1, -1, -1, -1, -1});

    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK(aclnnAdvanceStepGetWorkspaceSize(inputTokens.Handle(), sampledTokenIds.Handle(),
                                           inputPositions.Handle(), seqLens.Handle(),
                                           slotMapping.Handle(), blockTables.Handle(), kNumSeqs,
                                           kNumQueries, kBlockSize, &workspaceSize, &executor));
    CHECK(aclSetAclOpExecutorRepeatable(executor));
    void* workspace = nullptr;
    if (workspaceSize > 0) {
        CHECK(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));
    }

    std::puts("        position -> slot of each sequence\nstep");
    for (int step = 0; step < kSteps; ++step) {
        sampledTokenIds.Set({100 + step, 200 + step, 300 + step});  // a real model samples here
        CHECK(aclnnAdvanceStep(workspace, workspaceSize, executor, stream));
        CHECK(aclrtSynchronizeStream(stream));

        const std::vector<int64_t> positions = inputPositions.Get();
        const std::vector<int64_t> slots = slotMapping.Get();
        std::printf("%4d", step);
        for (size_t row = 0; row < kNumQueries; ++row) {
            std::printf("   %3lld -> %2lld", static_cast<long long>(positions[row]),
                        static_cast<long long>(slots[row]));
        }
        std::puts("");
    }

    CHECK(aclDestroyAclOpExecutor(executor));
    if (workspace != nullptr) {
        CHECK(aclrtFree(workspace));
    }
}

}  // namespace

int main() {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    DecodeLoop(stream);
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return EXIT_SUCCESS;
}
