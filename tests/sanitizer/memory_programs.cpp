// SPDX-License-Identifier: Apache-2.0
// Memory that goes while work uses it, work on memory that is none, and programs that wait first.
#include <future>
#include <thread>

#include "advance_step/host_operator.h"
#include "advance_step/sanitizer.h"
#include "corpus.h"
#include "device_program.h"

namespace corpus {

constexpr size_t kMapped = size_t{2} << 20;

// Names of their own, for the stacks.
void GiveBack(void* memory) { Must(aclrtFree(memory)); }

int32_t DoNothing(void*, char*, size_t) { return 0; }

// Queues work that says which range it uses.
void UseRange(const void* address, uint64_t bytes, aclrtStream stream) {
    AdvStepMemoryRange range{};
    range.address = address;
    range.bytes = bytes;
    AdvStepHostOperator operation{};
    operation.name = "gather";
    operation.run = &DoNothing;
    operation.ranges = &range;
    operation.rangeCount = 1;
    Must(advstepLaunchHostOperator(stream, &operation));
}

// Memory that is mapped to addresses of its own.
struct Mapping {
    void* address = nullptr;
    aclrtDrvMemHandle handle = nullptr;

    Mapping() {
        Must(aclrtReserveMemAddress(&address, kMapped, 0, nullptr, 0));
        Map();
    }
    void Map() {
        aclrtPhysicalMemProp properties{};
        properties.memAttr = ACL_HBM_MEM_HUGE;
        properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
        Must(aclrtMallocPhysical(&handle, kMapped, &properties, 0));
        Must(aclrtMapMem(address, kMapped, 0, handle, 0));
    }
    void Unmap() const {
        Must(aclrtUnmapMem(address));
        Must(aclrtFreePhysical(handle));
    }
};

aclmdlRI CaptureFill(void* memory, aclrtStream stream) {
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    Fill(memory, stream);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(stream, &model));
    return model;
}

// ---- bad: freed, unmapped or unregistered too early

// vllm-ascend, Paddle: a tensor goes out of scope while a queued launch uses it.
BAD_PROGRAM(FreesBehindAFill, "memory",
            {{"memory", "freed_in_use", {"aclrtMemsetAsync", "NewMemory", "GiveBack"}}},
            {{"memory", "used_after_free", {}}}) {
    // [FreesBehindAFill]
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Fill(memory, stream);
    GiveBack(memory);  // missing: Synchronize(stream)
    Synchronize(stream);
    // [/FreesBehindAFill]
}

// vllm-ascend: the block tables of a step are replaced while the step still runs.
BAD_PROGRAM(FreesBlockTablesOfAStep, "memory",
            {{"memory", "freed_in_use", {"aclnnAdvanceStep", "blockTables", "GiveBack"}}},
            {{"memory", "used_after_free", {}}}) {
    const aclrtStream stream = NewStream();
    const Batch batch;
    batch.Launch(stream);
    GiveBack(batch.blockTables);
    Synchronize(stream);
}

// InfiniCore: freeAsync gives back at once what a kernel of the stream still reads.
BAD_PROGRAM(FreesSourceOfAnOperator, "memory",
            {{"memory", "freed_in_use", {"aclnnMove", "self", "GiveBack"}}},
            {{"memory", "used_after_free", {}}}) {
    const aclrtStream stream = NewStream();
    void* const self = NewMemory();
    void* const out = NewMemory();
    LaunchMove(self, out, stream);
    GiveBack(self);
    Synchronize(stream);
}

// ggml-cann: the workspace of an operator is given back when phase two has returned.
BAD_PROGRAM(FreesWorkspaceOfAnOperator, "memory",
            {{"memory", "freed_in_use", {"aclnnMove", "workspace", "GiveBack"}}},
            {{"memory", "used_after_free", {}}}) {
    const aclrtStream stream = NewStream();
    void* const self = NewMemory();
    void* const out = NewMemory();
    void* const workspace = NewMemory();
    LaunchMoveByWorkspace(self, out, workspace, stream);
    GiveBack(workspace);
    Synchronize(stream);
}

// torch_npu: a pinned tensor of non_blocking=True is dropped before the copy has run.
BAD_PROGRAM(FreesPinnedSourceOfACopy, "memory",
            {{"memory", "freed_in_use", {"aclrtMemcpyAsync", "aclrtFreeHost", "NewPinned"}}},
            {{"memory", "used_after_free", {}}}) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    void* const pinned = NewPinned();
    CopyToDevice(memory, pinned, stream);
    Must(aclrtFreeHost(pinned));
    Synchronize(stream);
}

// llama.cpp: the wrong stream is waited for before a buffer goes.
BAD_PROGRAM(FreesAfterTheOtherStream, "memory",
            {{"memory", "freed_in_use", {"aclrtMemcpyAsync", "GiveBack"}}},
            {{"memory", "used_after_free", {}}}) {
    const aclrtStream compute = NewStream();
    const aclrtStream copies = NewStream();
    void* const memory = NewMemory();
    void* const pinned = NewPinned();
    CopyToHost(pinned, memory, copies);
    Synchronize(compute);
    GiveBack(memory);
    Synchronize(copies);
}

// mindspore: an event is recorded before the launch that it should cover.
BAD_PROGRAM(FreesAfterAnEarlyEvent, "memory",
            {{"memory", "freed_in_use", {"aclrtMemsetAsync", "GiveBack"}}},
            {{"memory", "used_after_free", {}}}) {
    const aclrtStream stream = NewStream();
    const aclrtEvent event = NewEvent();
    void* const memory = NewMemory();
    Must(aclrtRecordEvent(event, stream));
    Fill(memory, stream);
    Must(aclrtSynchronizeEvent(event));
    GiveBack(memory);
    Synchronize(stream);
}

// onnxruntime: the status of an event is asked once, and the answer is not looked at.
BAD_PROGRAM(FreesAfterOneQuery, "memory",
            {{"memory", "freed_in_use", {"aclrtMemsetAsync", "GiveBack"}}},
            {{"memory", "used_after_free", {}}}) {
    const aclrtStream stream = NewStream();
    const aclrtEvent event = NewEvent();
    void* const memory = NewMemory();
    uint64_t hold = 0;
    Must(advstepHoldStream(stream, &hold));
    Fill(memory, stream);
    Must(aclrtRecordEvent(event, stream));
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    Must(aclrtQueryEventStatus(event, &status));
    GiveBack(memory);
    Must(advstepReleaseHold(hold));
    Synchronize(stream);
}

// Paddle: the allocator's thread frees what the main thread has queued.
BAD_PROGRAM(FreesInAnotherThread, "memory",
            {{"memory", "freed_in_use", {"aclrtMemsetAsync", "GiveBack"}}},
            {{"memory", "used_after_free", {}}}) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Fill(memory, stream);
    std::thread([memory] { GiveBack(memory); }).join();
    Synchronize(stream);
}

// vllm-ascend: buffers of a captured graph go while its replay runs.
BAD_PROGRAM(FreesMemoryOfARunningReplay, "memory",
            {{"memory", "freed_in_use", {"aclmdlRIExecuteAsync", "GiveBack"}}},
            {{"memory", "used_after_free", {}}}) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    const aclmdlRI model = CaptureFill(memory, stream);
    Must(aclmdlRIExecuteAsync(model, stream));
    GiveBack(memory);
    Synchronize(stream);
    Must(aclmdlRIDestroy(model));
}

// Mooncake: a region is unregistered while a transfer of it is under way.
BAD_PROGRAM(UnregistersBehindACopy, "memory",
            {{"memory", "unregistered_in_use", {"aclrtMemcpyAsync", "aclrtHostUnregister"}}},
            {{"memory", "used_after_free", {}}}) {
    // [UnregistersBehindACopy]
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    alignas(4096) static char region[2 * kBytes] = {};
    void* registered = nullptr;
    Must(aclrtHostRegister(region, kBytes, ACL_HOST_REGISTER_MAPPED, &registered));
    Must(advstepDelayStream(stream, 2000));
    CopyToDevice(memory, region, stream);
    Must(aclrtHostUnregister(region));
    Synchronize(stream);
    // [/UnregistersBehindACopy]
}

// vllm-ascend, sleep mode: weights are unmapped while the last forward still runs.
BAD_PROGRAM(UnmapsBehindAFill, "memory",
            {{"memory", "unmapped_in_use", {"aclrtMemsetAsync", "aclrtUnmapMem"}}},
            {{"memory", "used_after_free", {}}, {"memory", "no_live_memory", {}}}) {
    // [UnmapsBehindAFill]
    const aclrtStream stream = NewStream();
    const Mapping weights;
    Fill(weights.address, stream);
    weights.Unmap();
    Synchronize(stream);
    // [/UnmapsBehindAFill]
}

// vLLM-style engines: the time limit of a synchronisation has passed, and its code is dropped.
BAD_PROGRAM(FreesAfterATimeout, "memory",
            {{"memory", "freed_in_use", {"aclrtMemsetAsync", "GiveBack"}}},
            {{"memory", "used_after_free", {}}}) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    uint64_t hold = 0;
    Must(advstepHoldStream(stream, &hold));
    Fill(memory, stream);
    (void)aclrtSynchronizeStreamWithTimeout(stream, 1);
    GiveBack(memory);
    Must(advstepReleaseHold(hold));
    Synchronize(stream);
}

// ---- bad: memory that is none

// ggml-cann: a cached executor keeps the address of a buffer that was freed.
BAD_PROGRAM(UsesAFreedBlock, "memory",
            {{"memory", "used_after_free", {"gather", "UseRange", "GiveBack"}}}) {
    // [UsesAFreedBlock]
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    GiveBack(memory);
    UseRange(memory, kBytes, stream);
    Synchronize(stream);
    // [/UsesAFreedBlock]
}

// MindSpore custom operators: a host pointer is passed where device memory is expected.
BAD_PROGRAM(UsesMemoryOfTheStack, "memory",
            {{"memory", "no_live_memory", {"gather", "UseRange"}}}) {
    // [UsesMemoryOfTheStack]
    const aclrtStream stream = NewStream();
    char local[64] = {};
    UseRange(local, sizeof(local), stream);
    Synchronize(stream);
    // [/UsesMemoryOfTheStack]
}

// tilelang-ascend: the last tile of a kernel reaches beyond the end of its buffer.
BAD_PROGRAM(UsesMoreThanABlock, "memory",
            {{"memory", "no_live_memory|out_of_view", {"gather", "NewMemory"}}}) {
    // [UsesMoreThanABlock]
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    UseRange(memory, kBytes + 512, stream);
    Synchronize(stream);
    // [/UsesMoreThanABlock]
}

// Mooncake: device 0 copies from device 1 without peer access.
BAD_PROGRAM(CopiesFromADeviceThatIsNoPeer, "memory",
            {{"memory", "other_device", {"aclrtMemcpyAsync"}}}) {
    // [CopiesFromADeviceThatIsNoPeer]
    void* const here = NewMemory();
    const aclrtStream stream = NewStream();
    Must(aclrtSetDevice(1));
    void* const there = NewMemory();
    Must(aclrtSetDevice(0));
    CopyOnDevice(here, there, stream);
    Synchronize(stream);
    Must(aclrtResetDevice(1));
    // [/CopiesFromADeviceThatIsNoPeer]
}

// FastDeploy: a pointer table on the device still has the address of a freed cache.
BAD_PROGRAM(CopiesThroughAPointerToFreedMemory, "memory",
            {{"memory", "used_after_free|no_live_memory", {"aclrtMemcpyAsyncWithOffset"}}},
            {{"sync", "error_never_asked", {}}}) {
    const aclrtStream stream = NewStream();
    void* const addresses[2] = {NewMemory(), NewMemory()};
    void* const table = NewUnwrittenMemory(sizeof(addresses));
    Must(aclrtMemcpy(table, sizeof(addresses), addresses, sizeof(addresses),
                     ACL_MEMCPY_HOST_TO_DEVICE));
    GiveBack(addresses[1]);
    Must(aclrtMemcpyAsyncWithOffset(static_cast<void**>(table), kBytes, 0,
                                    static_cast<const void**>(table) + 1, 64, 0,
                                    ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
    (void)aclrtSynchronizeStream(stream);
}

// ggml-cann: a graph is found again by addresses that now belong to another tensor.
BAD_PROGRAM(ReplaysIntoAnotherBlock, "memory", {{"memory", "replaced_memory", {"NewMemory"}}}) {
    // [ReplaysIntoAnotherBlock]
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory(kMapped);
    const aclmdlRI model = CaptureFill(memory, stream);
    GiveBack(memory);
    for (int i = 0; i < 64 && NewMemory(kMapped) != memory; ++i) {
    }
    (void)aclmdlRIExecuteAsync(model, stream);
    Synchronize(stream);
    // [/ReplaysIntoAnotherBlock]
}

// ---- bad: blocks of a pool of one's own

// vllm-ascend, ggml-cann: a pool hands out a block again, whose last work still runs.
BAD_PROGRAM(TakesABlockBackTooEarly, "memory",
            {{"memory", "freed_in_use", {"aclrtMemsetAsync", "poisoned", "NewMemory"}}},
            {{"memory", "poisoned", {}}}) {
    const aclrtStream stream = NewStream();
    void* const pool = NewMemory();
    Fill(pool, stream, kBytes / 2);
    Must(advstepPoisonMemory(pool, kBytes / 2));
    Synchronize(stream);
}

// The same pools: a tensor keeps the address of a block that was taken back.
BAD_PROGRAM(UsesABlockThatWasTakenBack, "memory",
            {{"memory", "poisoned", {"aclrtMemsetAsync", "Fill", "NewMemory"}}}) {
    // [UsesABlockThatWasTakenBack]
    const aclrtStream stream = NewStream();
    void* const pool = NewMemory();
    Must(advstepPoisonMemory(pool, kBytes / 2));  // the pool's free() of a block
    Fill(pool, stream, 64);
    Synchronize(stream);
    // [/UsesABlockThatWasTakenBack]
}

// ---- right

RIGHT_PROGRAM(FreesAfterTheStream) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Fill(memory, stream);
    Synchronize(stream);
    GiveBack(memory);
}

RIGHT_PROGRAM(FreesBlockTablesAfterTheStep) {
    const aclrtStream stream = NewStream();
    const Batch batch;
    batch.Launch(stream);
    Must(aclrtSynchronizeDevice());
    GiveBack(batch.blockTables);
}

RIGHT_PROGRAM(FreesWorkspaceAfterTheEvent) {
    const aclrtStream stream = NewStream();
    const aclrtEvent event = NewEvent();
    void* const self = NewMemory();
    void* const out = NewMemory();
    void* const workspace = NewMemory();
    LaunchMoveByWorkspace(self, out, workspace, stream);
    Must(aclrtRecordEvent(event, stream));
    Must(aclrtSynchronizeEvent(event));
    GiveBack(workspace);
    Synchronize(stream);
}

RIGHT_PROGRAM(FreesAfterQueriesOfTheStream) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Fill(memory, stream);
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    while (status != ACL_STREAM_STATUS_COMPLETE) {
        Must(aclrtStreamQuery(stream, &status));
    }
    GiveBack(memory);
}

RIGHT_PROGRAM(FreesAfterQueriesOfAnEvent) {
    const aclrtStream stream = NewStream();
    const aclrtEvent event = NewEvent();
    void* const memory = NewMemory();
    Fill(memory, stream);
    Must(aclrtRecordEvent(event, stream));
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
        Must(aclrtQueryEventStatus(event, &status));
    }
    GiveBack(memory);
}

RIGHT_PROGRAM(FreesWithTheDevicesWork) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Fill(memory, stream);
    Must(aclrtFreeWithDevSync(memory));
}

RIGHT_PROGRAM(FreesAfterTheStreamIsDestroyed) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Fill(memory, stream);
    Must(aclrtDestroyStream(stream));  // waits
    GiveBack(memory);
}

RIGHT_PROGRAM(FreesAfterALaterStream) {
    const aclrtStream first = NewStream();
    const aclrtStream second = NewStream();
    void* const memory = NewMemory();
    Fill(memory, first);
    Order(first, second);
    Synchronize(second);
    GiveBack(memory);
}

RIGHT_PROGRAM(FreesWhenAHostFunctionTells) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    std::promise<void> done;
    Fill(memory, stream);
    Must(aclrtLaunchHostFunc(stream, &Tell, &done));
    done.get_future().wait();
    GiveBack(memory);
    Synchronize(stream);
}

RIGHT_PROGRAM(FreesInAnotherThreadAfterTheStream) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Fill(memory, stream);
    Synchronize(stream);
    std::thread([memory] { GiveBack(memory); }).join();
}

RIGHT_PROGRAM(FreesWhatAThreadHasWaitedFor) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Fill(memory, stream);
    std::thread([stream] {
        Must(aclrtSetDevice(0));
        Synchronize(stream);
    }).join();
    GiveBack(memory);
}

RIGHT_PROGRAM(FreesPinnedAfterTheEvent) {
    const aclrtStream stream = NewStream();
    const aclrtEvent event = NewEvent();
    void* const memory = NewMemory();
    void* const pinned = NewPinned();
    CopyToDevice(memory, pinned, stream);
    Must(aclrtRecordEvent(event, stream));
    Must(aclrtSynchronizeEvent(event));
    Must(aclrtFreeHost(pinned));
}

RIGHT_PROGRAM(UnregistersAfterTheStream) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    alignas(4096) static char region[2 * kBytes] = {};
    void* registered = nullptr;
    Must(aclrtHostRegister(region, kBytes, ACL_HOST_REGISTER_MAPPED, &registered));
    CopyToDevice(memory, region, stream);
    Synchronize(stream);
    Must(aclrtHostUnregister(region));
}

RIGHT_PROGRAM(CopiesPageableMemoryThatGoes) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    {
        const std::vector<char> pageable(kBytes, 3);
        Must(aclrtMemcpyAsync(memory, kBytes, pageable.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                              stream));
    }
    Synchronize(stream);
}

// The scratch memory of a loop beside a stream that waits: case 34 of the reports of Mooncake.
RIGHT_PROGRAM(FreesBesideAWaitingStream) {
    const aclrtStream waiting = NewStream();
    const aclrtStream work = NewStream();
    const aclrtNotify notify = NewNotify();
    Must(aclrtWaitAndResetNotify(notify, waiting, 0));
    for (int i = 0; i < 10; ++i) {
        void* const scratch = NewMemory();
        Fill(scratch, work);
        Synchronize(work);
        GiveBack(scratch);
    }
    Must(aclrtRecordNotify(notify, work));
    Synchronize(waiting);
}

RIGHT_PROGRAM(UsesAFreedPlaceAgain) {
    const aclrtStream stream = NewStream();
    for (int i = 0; i < 10; ++i) {
        void* const memory = NewMemory();
        Fill(memory, stream);
        Synchronize(stream);
        GiveBack(memory);
    }
}

RIGHT_PROGRAM(ReplaysThenFreesInOrder) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    const aclmdlRI model = CaptureFill(memory, stream);
    for (int i = 0; i < 3; ++i) {
        Must(aclmdlRIExecuteAsync(model, stream));
    }
    Synchronize(stream);
    Must(aclmdlRIDestroy(model));
    GiveBack(memory);
}

RIGHT_PROGRAM(FreesMemoryOfAModelThatIsNotReplayedAgain) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    const aclmdlRI model = CaptureFill(memory, stream);
    Must(aclmdlRIExecute(model, -1));
    GiveBack(memory);
    Must(aclmdlRIDestroy(model));
}

// vllm-ascend, sleep mode: the same addresses get other memory, and graphs go on.
RIGHT_PROGRAM(SleepsAndWakes) {
    const aclrtStream stream = NewStream();
    Mapping weights;
    const aclmdlRI model = CaptureFill(weights.address, stream);
    for (int i = 0; i < 3; ++i) {
        Must(aclmdlRIExecuteAsync(model, stream));
        Synchronize(stream);
        weights.Unmap();
        weights.Map();
    }
    Must(aclmdlRIExecuteAsync(model, stream));
    Synchronize(stream);
}

RIGHT_PROGRAM(FreesTheHandleOfAMapping) {
    const aclrtStream stream = NewStream();
    const Mapping mapping;
    Fill(mapping.address, stream);
    Must(aclrtFreePhysical(mapping.handle));  // the mapping keeps the memory
    Fill(mapping.address, stream);
    Synchronize(stream);
    Must(aclrtUnmapMem(mapping.address));
}

RIGHT_PROGRAM(UsesRangesOfABlock) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    UseRange(memory, kBytes, stream);
    UseRange(Beyond(memory, kBytes - 8), 8, stream);
    UseRange(nullptr, 0, stream);
    Synchronize(stream);
}

RIGHT_PROGRAM(CopiesFromAPeer) {
    void* const here = NewMemory();
    const aclrtStream stream = NewStream();
    Must(aclrtDeviceEnablePeerAccess(1, 0));
    Must(aclrtSetDevice(1));
    void* const there = NewMemory();
    Must(aclrtDeviceEnablePeerAccess(0, 0));
    Must(aclrtSetDevice(0));
    CopyOnDevice(here, there, stream);
    Synchronize(stream);
    Must(aclrtResetDevice(1));
}

RIGHT_PROGRAM(ResetsADeviceWithQueuedWork) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Fill(memory, stream);
    Must(aclrtResetDevice(0));  // waits
    Must(aclrtSetDevice(0));
}

RIGHT_PROGRAM(WorksInAContextPerThread) {
    for (int i = 0; i < 2; ++i) {
        std::thread([] {
            aclrtContext context = nullptr;
            Must(aclrtCreateContext(&context, 0));
            const aclrtStream stream = NewStream();
            void* const memory = NewMemory();
            Fill(memory, stream);
            Synchronize(stream);
            GiveBack(memory);
            Must(aclrtDestroyContext(context));
        }).join();
    }
}

RIGHT_PROGRAM(FreesAfterATimeoutThatIsHeeded) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    uint64_t hold = 0;
    Must(advstepHoldStream(stream, &hold));
    Fill(memory, stream);
    while (aclrtSynchronizeStreamWithTimeout(stream, 1) != ACL_SUCCESS) {
        Must(advstepClearFaults());
    }
    GiveBack(memory);
}

// Deferred frees: the stream's own host function, or a callback, gives the memory back.
RIGHT_PROGRAM(FreesInAHostFunction) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Fill(memory, stream);
    Must(aclrtLaunchHostFunc(stream, &GiveBack, memory));
    Fill(NewMemory(), stream);
    Synchronize(stream);
}

RIGHT_PROGRAM(FreesInACallback) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Must(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream));
    Fill(memory, stream);
    Must(aclrtLaunchCallback(&GiveBack, memory, ACL_CALLBACK_NO_BLOCK, stream));
    Must(aclrtProcessReport(-1));
    Synchronize(stream);
    Must(aclrtUnSubscribeReport(static_cast<uint64_t>(pthread_self()), stream));
}

// Work that has been dropped uses nothing.
RIGHT_PROGRAM(FreesAfterAnAbort) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    uint64_t hold = 0;
    Must(advstepHoldStream(stream, &hold));
    Fill(memory, stream);
    Must(aclrtStreamAbort(stream));
    Synchronize(stream);
    GiveBack(memory);
}

RIGHT_PROGRAM(FreesAfterAForcedDestruction) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    uint64_t hold = 0;
    Must(advstepHoldStream(stream, &hold));
    Fill(memory, stream);
    Must(aclrtDestroyStreamForce(stream));
    GiveBack(memory);
}

RIGHT_PROGRAM(WorksInTwoThreadsAtATime) {
    std::thread threads[2];
    for (std::thread& thread : threads) {
        thread = std::thread([] {
            Must(aclrtSetDevice(0));
            const aclrtStream stream = NewStream();
            for (int i = 0; i < 20; ++i) {
                void* const memory = NewMemory();
                Fill(memory, stream);
                Synchronize(stream);
                GiveBack(memory);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

RIGHT_PROGRAM(CutsBlocksOutOfAPool) {
    const aclrtStream stream = NewStream();
    void* const pool = NewMemory();
    for (int i = 0; i < 3; ++i) {
        Must(advstepPoisonMemory(pool, kBytes));
        Must(advstepUnpoisonMemory(Beyond(pool, 1024), 1024));
        Fill(Beyond(pool, 1024), stream, 1024);
        Synchronize(stream);
    }
    Must(aclrtFree(pool));
}

}  // namespace corpus
