// SPDX-License-Identifier: Apache-2.0
// The shared parts of the programs.
#include "device_program.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>

#include "advance_step/host_call.h"

namespace corpus {
namespace {

aclTensor* Tensor(std::vector<int64_t> dims, aclDataType type, void* data) {
    return aclCreateTensor(dims.data(), dims.size(), type, nullptr, 0, ACL_FORMAT_ND, dims.data(),
                           dims.size(), data);
}

void* Upload(const std::vector<int64_t>& values) {
    const size_t bytes = values.size() * sizeof(int64_t);
    void* const memory = NewUnwrittenMemory(bytes);
    Must(aclrtMemcpy(memory, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    return memory;
}

int32_t RunMove(const void*, const AdvStepHostRun* run) {
    const AdvStepTensorView& self = run->tensors[0];
    const size_t bytes = static_cast<size_t>(self.dims[0]) * sizeof(int64_t);
    if (run->workspaceBytes > 0) {
        std::memcpy(run->workspace, self.data, run->workspaceBytes);
    }
    std::memcpy(run->tensors[1].data, self.data, bytes);
    return 0;
}

constexpr AdvStepHostCallTable kMoveTable = {
    sizeof(AdvStepHostCallTable), ADVSTEP_HOST_CALL_INTERFACE, "aclnnMove", &RunMove, nullptr};

const AdvStepHostCall* Move() {
    static const AdvStepHostCall* const call = [] {
        const AdvStepHostCall* registered = nullptr;
        Must(advstepRegisterHostCall(&kMoveTable, &registered));
        return registered;
    }();
    return call;
}

void Launch(const void* self, void* out, void* workspace, uint64_t workspaceBytes,
            aclrtStream stream, size_t bytes) {
    const std::vector<int64_t> dims = {static_cast<int64_t>(bytes / sizeof(int64_t))};
    aclTensor* const tensors[] = {Tensor(dims, ACL_INT64, const_cast<void*>(self)),
                                  Tensor(dims, ACL_INT64, out)};
    AdvStepHostTensor places[2] = {{{}, "self", ADVSTEP_READS, 0, -1},
                                   {{}, "out", ADVSTEP_WRITES, 1, -1}};
    Must(advstepReadTensor(tensors[0], &places[0].view));
    Must(advstepReadTensor(tensors[1], &places[1].view));
    const AdvStepHostPlanRequest request = {
        sizeof(AdvStepHostPlanRequest), 2, places, nullptr, workspaceBytes, 0};
    AdvStepHostPlan* plan = nullptr;
    aclOpExecutor* executor = nullptr;
    uint64_t size = 0;
    Must(advstepMakeHostPlan(Move(), &request, &plan));
    Must(advstepMakeHostExecutor(plan, nullptr, &size, &executor));
    advstepReleaseHostPlan(plan);
    aclDestroyTensor(tensors[0]);
    aclDestroyTensor(tensors[1]);
    Must(advstepRunHostExecutor(Move(), workspace, size, executor, stream));
}

}  // namespace

void Must(int code) {
    if (code != 0) {
        const char* const message = aclGetRecentErrMsg();
        std::fprintf(stderr, "a call returned %d: %s\n", code, message != nullptr ? message : "");
        std::_Exit(9);
    }
}

aclrtStream NewStream() {
    aclrtStream stream = nullptr;
    Must(aclrtCreateStream(&stream));
    return stream;
}

aclrtEvent NewEvent() {
    aclrtEvent event = nullptr;
    Must(aclrtCreateEvent(&event));
    return event;
}

aclrtEvent NewCaptureEvent() {
    aclrtEvent event = nullptr;
    Must(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    return event;
}

aclrtNotify NewNotify() {
    aclrtNotify notify = nullptr;
    Must(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    return notify;
}

void* NewUnwrittenMemory(size_t bytes) {
    void* memory = nullptr;
    Must(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    return memory;
}

void* NewMemory(size_t bytes) {
    void* const memory = NewUnwrittenMemory(bytes);
    Must(aclrtMemset(memory, bytes, 0, bytes));
    return memory;
}

void* NewPinned(size_t bytes) {
    void* memory = nullptr;
    Must(aclrtMallocHost(&memory, bytes));
    std::memset(memory, 0, bytes);
    return memory;
}

void Fill(void* memory, aclrtStream stream, size_t bytes) {
    Must(aclrtMemsetAsync(memory, bytes, 7, bytes, stream));
}

void CopyOnDevice(void* to, const void* from, aclrtStream stream, size_t bytes) {
    Must(aclrtMemcpyAsync(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

void CopyToDevice(void* to, const void* pinned, aclrtStream stream, size_t bytes) {
    Must(aclrtMemcpyAsync(to, bytes, pinned, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
}

void CopyToHost(void* pinned, const void* from, aclrtStream stream, size_t bytes) {
    Must(aclrtMemcpyAsync(pinned, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
}

void Synchronize(aclrtStream stream) { Must(aclrtSynchronizeStream(stream)); }

void Order(aclrtStream before, aclrtStream stream) {
    const aclrtEvent event = NewEvent();
    Must(aclrtRecordEvent(event, before));
    Must(aclrtStreamWaitEvent(stream, event));
    Must(aclrtDestroyEvent(event));
}

void Tell(void* promise) { static_cast<std::promise<void>*>(promise)->set_value(); }

Batch::Batch() : Batch({2, 3, 4, 5, 6, 7, 0, 0, 0}) {}

Batch::Batch(const std::vector<int64_t>& tables, const std::vector<int64_t>& lengths)
    : inputTokens(Upload({0, 0, 0})),
      sampledTokenIds(Upload({101, 102})),
      inputPositions(Upload({0, 0, 0})),
      seqLens(Upload(lengths)),
      slotMapping(Upload({0, 0, 0})),
      blockTables(Upload(tables)) {}

void Batch::Launch(aclrtStream stream) const {
    aclTensor* const tensors[] = {Tensor({kRows}, ACL_INT64, inputTokens),
                                  Tensor({kQueries, 1}, ACL_INT64, sampledTokenIds),
                                  Tensor({kRows}, ACL_INT64, inputPositions),
                                  Tensor({kRows}, ACL_INT64, seqLens),
                                  Tensor({kRows}, ACL_INT64, slotMapping),
                                  Tensor({kRows, kColumns}, ACL_INT64, blockTables)};
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    Must(aclnnAdvanceStepGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3],
                                          tensors[4], tensors[5], kRows, kQueries, kBlockSize,
                                          &size, &executor));
    for (aclTensor* tensor : tensors) {
        aclDestroyTensor(tensor);
    }
    Must(aclnnAdvanceStep(nullptr, 0, executor, stream));
}

void LaunchMove(const void* self, void* out, aclrtStream stream, size_t bytes) {
    Launch(self, out, nullptr, 0, stream, bytes);
}

void LaunchMoveByWorkspace(const void* self, void* out, void* workspace, aclrtStream stream,
                           size_t bytes) {
    Launch(self, out, workspace, kScratchBytes, stream, bytes);
}

}  // namespace corpus
