// SPDX-License-Identifier: Apache-2.0
// A decode step on two streams, captured once and replayed: the tokens come in and the positions go
// out beside the main stream. Writes what the device does, and when, to the file of its argument;
// docs/tracing.md shows it as a picture.
//
//   traced_step [trace.json]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"
#include "check.h"

namespace {

constexpr int64_t kNumSeqs = 40000;  // enough for several threads to share the cores
constexpr int64_t kNumQueries = kNumSeqs - 1;
constexpr int64_t kBlockSize = 16;
constexpr int64_t kMaxBlocks = 2;
constexpr size_t kBytes = kNumSeqs * sizeof(int64_t);
constexpr int kReplays = 3;

// An int64 tensor with its device memory, which goes with the device.
struct DeviceTensor {
    DeviceTensor(int64_t rows, int64_t columns, int64_t value)
        : DeviceTensor(rows, columns,
                       std::vector<int64_t>(static_cast<size_t>(rows * columns), value)) {}
    DeviceTensor(int64_t rows, int64_t columns, const std::vector<int64_t>& values) {
        const size_t bytes = values.size() * sizeof(int64_t);
        CHECK(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMemcpy(address, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
        const int64_t shape[] = {rows, columns};
        tensor = aclCreateTensor(shape, 2, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape, 2, address);
        Check(tensor == nullptr, "aclCreateTensor");
    }
    ~DeviceTensor() { CHECK(aclDestroyTensor(tensor)); }
    DeviceTensor(const DeviceTensor&) = delete;
    DeviceTensor& operator=(const DeviceTensor&) = delete;

    void* address = nullptr;
    aclTensor* tensor = nullptr;
};

aclrtEvent MakeEvent() {
    aclrtEvent event = nullptr;
    CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    return event;
}

// What follows on `to` waits for what is on `from` so far.
void Order(aclrtStream from, aclrtStream to) {
    aclrtEvent event = MakeEvent();
    CHECK(aclrtRecordEvent(event, from));
    CHECK(aclrtStreamWaitEvent(to, event));
    CHECK(aclrtDestroyEvent(event));
}

void Run() {
    aclrtStream main = nullptr;
    aclrtStream side = nullptr;
    CHECK(aclrtCreateStream(&main));
    CHECK(aclrtCreateStream(&side));
    void* host = nullptr;  // pinned, so that copies run beside other work
    CHECK(aclrtMallocHost(&host, kBytes));

    const DeviceTensor inputTokens(kNumSeqs, 1, 0);
    const DeviceTensor sampledTokenIds(kNumQueries, 1, 7);
    const DeviceTensor inputPositions(kNumSeqs, 1, 3);
    const DeviceTensor seqLens(kNumSeqs, 1, 4);
    const DeviceTensor slotMapping(kNumSeqs, 1, -1);
    std::vector<int64_t> blocks(kNumSeqs * kMaxBlocks);
    std::iota(blocks.begin(), blocks.end(), 0);  // each row has blocks of its own
    const DeviceTensor blockTables(kNumSeqs, kMaxBlocks, blocks);
    void* scratch = nullptr;
    CHECK(aclrtMalloc(&scratch, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));

    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    CHECK(aclnnAdvanceStepGetWorkspaceSize(inputTokens.tensor, sampledTokenIds.tensor,
                                           inputPositions.tensor, seqLens.tensor,
                                           slotMapping.tensor, blockTables.tensor, kNumSeqs,
                                           kNumQueries, kBlockSize, &workspaceSize, &executor));
    void* workspace = nullptr;
    if (workspaceSize > 0) {
        CHECK(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));
    }

    constexpr size_t kSampledBytes = kNumQueries * sizeof(int64_t);
    CHECK(aclmdlRICaptureBegin(main, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    CHECK(aclrtMemsetAsync(scratch, kBytes, 0, kBytes, main));
    Order(main, side);
    CHECK(aclrtMemcpyAsync(sampledTokenIds.address, kSampledBytes, host, kSampledBytes,
                           ACL_MEMCPY_HOST_TO_DEVICE, side));
    Order(side, main);
    CHECK(aclnnAdvanceStep(workspace, workspaceSize, executor, main));
    Order(main, side);
    CHECK(aclrtMemcpyAsync(host, kBytes, inputPositions.address, kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                           side));
    CHECK(aclrtMemsetAsync(scratch, kBytes, 1, kBytes, main));
    Order(side, main);
    aclmdlRI model = nullptr;
    CHECK(aclmdlRICaptureEnd(main, &model));

    for (int i = 0; i < kReplays; ++i) {
        CHECK(aclmdlRIExecuteAsync(model, main));
    }
    CHECK(aclrtSynchronizeStream(main));
    std::printf("position of the first sequence after %d steps: %lld\n", kReplays,
                static_cast<long long>(*static_cast<int64_t*>(host)));
    CHECK(aclmdlRIDestroy(model));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) {
        setenv("ADVANCE_STEP_TRACE", argv[1],
               1);  // NOLINT(concurrency-mt-unsafe): before any thread
    }
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    Run();
    CHECK(aclFinalize());  // with it go the streams and the memory, and the trace is complete
    return EXIT_SUCCESS;
}
