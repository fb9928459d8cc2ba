// SPDX-License-Identifier: Apache-2.0
// Two streams, or a stream and the host, on the same bytes: without an order, and with one.
#include <mutex>
#include <thread>

#include "corpus.h"
#include "device_program.h"

namespace corpus {

// Names of their own, for the stacks.
void Produce(void* memory, aclrtStream stream) { Fill(memory, stream); }
void Consume(const void* memory, aclrtStream stream) { LaunchMove(memory, NewMemory(), stream); }

// The first and the last quarter of a block, to pinned memory.
void CopyBatch(void* pinned, void* block, aclrtStream stream) {
    const size_t quarter = kBytes / 4;
    void* to[2] = {pinned, Beyond(pinned, quarter)};
    void* from[2] = {block, Beyond(block, 3 * quarter)};
    size_t sizes[2] = {quarter, quarter};
    aclrtMemcpyBatchAttr attribute{};
    attribute.dstLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    attribute.srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    size_t index = 0;
    size_t failed = 0;
    Must(aclrtMemcpyBatchAsync(to, sizes, from, sizes, 2, &attribute, &index, 1, &failed, stream));
}

// ---- bad

// sglang (plan stream), vllm-ascend: the compute stream reads what the copy stream still writes.
BAD_PROGRAM(ReadsWhatAnotherStreamCopies, "race",
            {{"race", "race", {"aclrtMemcpyAsync", "CopyToDevice", "Consume", "self"}}}) {
    // [ReadsWhatAnotherStreamCopies]
    const aclrtStream copies = NewStream();
    const aclrtStream compute = NewStream();
    void* const memory = NewMemory();
    CopyToDevice(memory, NewPinned(), copies);
    Consume(memory, compute);  // missing: Order(copies, compute)
    Synchronize(compute);
    Synchronize(copies);
    // [/ReadsWhatAnotherStreamCopies]
}

// vllm-ascend: the event is recorded before the copy that it should cover.
BAD_PROGRAM(RecordsTooEarly, "race", {{"race", "race", {"Produce", "Consume", "self"}}}) {
    const aclrtStream copies = NewStream();
    const aclrtStream compute = NewStream();
    void* const memory = NewMemory();
    Order(copies, compute);
    Produce(memory, copies);
    Consume(memory, compute);
    Must(aclrtSynchronizeDevice());
}

// torch users: wait_stream is called behind the kernel that needs it.
BAD_PROGRAM(WaitsTooLate, "race", {{"race", "race", {"Produce", "Consume"}}}) {
    const aclrtStream copies = NewStream();
    const aclrtStream compute = NewStream();
    void* const memory = NewMemory();
    Produce(memory, copies);
    Consume(memory, compute);
    Order(copies, compute);
    Must(aclrtSynchronizeDevice());
}

// PyTorch's CUDA sanitizer: the wait is made by the stream that has the producer.
BAD_PROGRAM(MakesTheWrongStreamWait, "race", {{"race", "race", {"Produce", "Consume"}}}) {
    const aclrtStream copies = NewStream();
    const aclrtStream compute = NewStream();
    void* const memory = NewMemory();
    Produce(memory, copies);
    Order(compute, copies);
    Consume(memory, compute);
    Must(aclrtSynchronizeDevice());
}

// Paddle: two streams initialise one buffer.
BAD_PROGRAM(WritesInTwoStreams, "race", {{"race", "race", {"aclrtMemsetAsync", "Produce"}}}) {
    const aclrtStream first = NewStream();
    const aclrtStream second = NewStream();
    void* const memory = NewMemory();
    Produce(memory, first);
    Produce(memory, second);
    Must(aclrtSynchronizeDevice());
}

// Data loaders with two buffers: the second round of copies does not wait for the reader.
BAD_PROGRAM(OverwritesWhatIsStillRead, "race",
            {{"race", "race", {"CopyToDevice", "Consume", "self"}}}) {
    const aclrtStream copies = NewStream();
    const aclrtStream compute = NewStream();
    void* const memory = NewMemory();
    void* const pinned = NewPinned();
    for (int round = 0; round < 2; ++round) {
        CopyToDevice(memory, pinned, copies);
        Order(copies, compute);
        Consume(memory, compute);  // missing: Order(compute, copies)
    }
    Must(aclrtSynchronizeDevice());
}

// torch_npu: one workspace for all streams.
BAD_PROGRAM(SharesAWorkspace, "race", {{"race", "race", {"aclnnMove", "workspace"}}}) {
    // [SharesAWorkspace]
    const aclrtStream first = NewStream();
    const aclrtStream second = NewStream();
    void* const workspace = NewMemory();
    LaunchMoveByWorkspace(NewMemory(), NewMemory(), workspace, first);
    LaunchMoveByWorkspace(NewMemory(), NewMemory(), workspace, second);
    Must(aclrtSynchronizeDevice());
    // [/SharesAWorkspace]
}

// vllm-ascend: block tables of the next step are copied beside the present one.
BAD_PROGRAM(CopiesBlockTablesBesideAStep, "race",
            {{"race", "race", {"aclnnAdvanceStep", "blockTables", "CopyToDevice"}}}) {
    const aclrtStream compute = NewStream();
    const aclrtStream copies = NewStream();
    const Batch batch;
    void* const next = NewPinned();  // right tables too, so that the step has no finding of its own
    Must(aclrtMemcpy(next, 72, batch.blockTables, 72, ACL_MEMCPY_DEVICE_TO_HOST));
    batch.Launch(compute);
    CopyToDevice(batch.blockTables, next, copies, 72);
    Must(aclrtSynchronizeDevice());
}

// vllm-ascend: the sampled tokens are read before the sampling stream has written them.
BAD_PROGRAM(StepsBesideTheSampler, "race",
            {{"race", "race", {"aclnnAdvanceStep", "sampledTokenIds", "aclrtMemsetAsync"}}},
            {{"race", "race", {}}}) {
    const aclrtStream sampling = NewStream();
    const aclrtStream compute = NewStream();
    const Batch batch;
    Must(aclrtMemsetAsync(batch.sampledTokenIds, 16, 0, 16, sampling));
    Fill(NewMemory(), sampling);
    batch.Launch(compute);
    Must(aclrtSynchronizeDevice());
}

// ggml-cann: a synchronous copy writes a buffer that queued work reads.
BAD_PROGRAM(CopiesFromTheHostBesideAReader, "race",
            {{"race", "race", {"aclrtMemcpy", "Consume", "self"}}}) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Consume(memory, stream);
    const std::vector<char> values(kBytes, 5);
    Must(aclrtMemcpy(memory, kBytes, values.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    Synchronize(stream);
}

// Beginners of every project: the result is read before the stream has been waited for.
BAD_PROGRAM(ReadsAResultTooEarly, "race", {{"race", "race", {"aclrtMemcpy", "Produce"}}}) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Produce(memory, stream);
    std::vector<char> values(kBytes);
    Must(aclrtMemcpy(values.data(), kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    Synchronize(stream);
}

// CUDA habits: the default stream is taken for one that waits for all others.
BAD_PROGRAM(TrustsTheDefaultStream, "race", {{"race", "race", {"Produce", "Consume"}}}) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Produce(memory, stream);
    Consume(memory, nullptr);
    Must(aclrtSynchronizeDevice());
}

// onnxruntime: one event for two streams; the second record replaces the first.
BAD_PROGRAM(RecordsOneEventTwice, "race", {{"race", "race", {"Produce", "Consume"}}}) {
    const aclrtStream first = NewStream();
    const aclrtStream second = NewStream();
    const aclrtStream compute = NewStream();
    const aclrtEvent event = NewEvent();
    void* const memory = NewMemory();
    Produce(memory, first);
    Must(aclrtRecordEvent(event, first));
    Must(aclrtRecordEvent(event, second));
    Must(aclrtStreamWaitEvent(compute, event));
    Consume(memory, compute);
    Must(aclrtSynchronizeDevice());
}

// vllm-ascend: a stream waits for an event that no one has recorded yet, and goes on at once.
BAD_PROGRAM(WaitsForAnEventWithoutRecord, "race", {{"race", "race", {"Produce", "Consume"}}},
            {{"sync", "event_never_waited", {}}}) {
    const aclrtStream copies = NewStream();
    const aclrtStream compute = NewStream();
    const aclrtEvent event = NewCaptureEvent();
    void* const memory = NewMemory();
    Must(aclrtStreamWaitEvent(compute, event));
    Consume(memory, compute);
    Produce(memory, copies);
    Must(aclrtRecordEvent(event, copies));
    Must(aclrtSynchronizeDevice());
}

// torch.npu graphs: a branch of a capture is joined at the end only.
BAD_PROGRAM(ReadsABranchBeforeItIsJoined, "race", {{"race", "race", {"Produce", "CopyOnDevice"}}}) {
    const aclrtStream main = NewStream();
    const aclrtStream branch = NewStream();
    const aclrtEvent forked = NewCaptureEvent();
    const aclrtEvent joined = NewCaptureEvent();
    void* const memory = NewMemory();
    void* const out = NewMemory();
    Must(aclmdlRICaptureBegin(main, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    Must(aclrtRecordEvent(forked, main));
    Must(aclrtStreamWaitEvent(branch, forked));
    Produce(memory, branch);
    Must(aclrtRecordEvent(joined, branch));
    CopyOnDevice(out, memory, main);
    Must(aclrtStreamWaitEvent(main, joined));
    Consume(memory, main);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(main, &model));
    Must(aclmdlRIExecuteAsync(model, main));
    Synchronize(main);
}

// vllm-ascend: two graphs of one memory pool are replayed on two streams.
BAD_PROGRAM(ReplaysTwoModelsOnOneBuffer, "race", {{"race", "race", {"aclmdlRIExecuteAsync"}}}) {
    const aclrtStream streams[2] = {NewStream(), NewStream()};
    aclmdlRI models[2] = {};
    void* const memory = NewMemory();
    for (int i = 0; i < 2; ++i) {
        Must(aclmdlRICaptureBegin(streams[i], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        Produce(memory, streams[i]);
        Must(aclmdlRICaptureEnd(streams[i], &models[i]));
    }
    Must(aclmdlRIExecuteAsync(models[0], streams[0]));
    Must(aclmdlRIExecuteAsync(models[1], streams[1]));
    Must(aclrtSynchronizeDevice());
}

// vllm-ascend: the inputs of a graph are renewed on another stream while it replays.
BAD_PROGRAM(RenewsInputsOfAReplay, "race",
            {{"race", "race", {"aclmdlRIExecuteAsync", "CopyToDevice"}}}) {
    const aclrtStream stream = NewStream();
    const aclrtStream copies = NewStream();
    void* const memory = NewMemory();
    void* const out = NewMemory();
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    LaunchMove(memory, out, stream);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(stream, &model));
    Must(aclmdlRIExecuteAsync(model, stream));
    CopyToDevice(memory, NewPinned(), copies);
    Must(aclrtSynchronizeDevice());
}

// hixl: the notify is given before the data.
BAD_PROGRAM(NotifiesBeforeTheData, "race", {{"race", "race", {"Produce", "Consume"}}}) {
    const aclrtStream sender = NewStream();
    const aclrtStream receiver = NewStream();
    const aclrtNotify notify = NewNotify();
    void* const memory = NewMemory();
    Must(aclrtRecordNotify(notify, sender));
    Produce(memory, sender);
    Must(aclrtWaitAndResetNotify(notify, receiver, 0));
    Consume(memory, receiver);
    Must(aclrtSynchronizeDevice());
}

// Mooncake: the flag word of a transfer is written before the transfer.
BAD_PROGRAM(WritesTheFlagBeforeTheData, "race", {{"race", "race", {"Produce", "Consume"}}}) {
    const aclrtStream sender = NewStream();
    const aclrtStream receiver = NewStream();
    void* const flag = NewMemory(64);
    void* const memory = NewMemory();
    Must(aclrtValueWrite(flag, 1, 0, sender));
    Produce(memory, sender);
    Must(aclrtValueWait(flag, 1, ACL_STREAM_WAIT_VALUE_EQ, receiver));
    Consume(memory, receiver);
    Must(aclrtSynchronizeDevice());
}

// Gradient sums: two streams add to one buffer.
BAD_PROGRAM(ReducesInTwoStreams, "race", {{"race", "race", {"aclrtReduceAsync"}}}) {
    const aclrtStream streams[2] = {NewStream(), NewStream()};
    void* const sum = NewMemory();
    for (const aclrtStream stream : streams) {
        Must(aclrtReduceAsync(sum, NewMemory(), kBytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT,
                              stream, nullptr));
    }
    Must(aclrtSynchronizeDevice());
}

// Column-parallel layers: the columns of two streams overlap by a few bytes.
BAD_PROGRAM(CopiesColumnsThatOverlap, "race", {{"race", "race", {"aclrtMemcpy2dAsync"}}}) {
    const aclrtStream left = NewStream();
    const aclrtStream right = NewStream();
    void* const matrix = NewMemory();
    void* const source = NewMemory();
    Must(aclrtMemcpy2dAsync(matrix, 64, source, 64, 36, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, left));
    Must(aclrtMemcpy2dAsync(Beyond(matrix, 32), 64, source, 64, 32, 63, ACL_MEMCPY_DEVICE_TO_DEVICE,
                            right));
    Must(aclrtSynchronizeDevice());
}

// Mooncake: one device writes a buffer that another device's stream reads.
BAD_PROGRAM(WritesToAPeerThatReads, "race", {{"race", "race", {"aclrtMemcpyAsync", "Consume"}}}) {
    Must(aclrtDeviceEnablePeerAccess(1, 0));
    const aclrtStream here = NewStream();
    void* const source = NewMemory();
    Must(aclrtSetDevice(1));
    Must(aclrtDeviceEnablePeerAccess(0, 0));
    const aclrtStream there = NewStream();
    void* const memory = NewMemory();
    Consume(memory, there);
    Must(aclrtSetDevice(0));
    CopyOnDevice(memory, source, here);
    Synchronize(here);
    Must(aclrtSetDevice(1));
    Synchronize(there);
    Must(aclrtSetDevice(0));
}

// Schedulers with a thread per stream: a mutex orders the calls and not the work.
BAD_PROGRAM(OrdersTheCallsOnly, "race", {{"race", "race", {"Produce", "Consume"}}}) {
    static std::mutex mutex;
    const aclrtStream copies = NewStream();
    const aclrtStream compute = NewStream();
    void* const memory = NewMemory();
    std::thread([=] {
        const std::lock_guard<std::mutex> lock(mutex);
        Must(aclrtSetDevice(0));
        Produce(memory, copies);
    }).join();
    {
        const std::lock_guard<std::mutex> lock(mutex);
        Consume(memory, compute);
    }
    Must(aclrtSynchronizeDevice());
}

// KV transfers: a batch of copies reads blocks that another stream writes.
BAD_PROGRAM(CopiesABatchBesideAWriter, "race",
            {{"race", "race", {"aclrtMemcpyBatchAsync", "Produce"}}}) {
    const aclrtStream writer = NewStream();
    const aclrtStream copies = NewStream();
    void* const block = NewMemory();
    Produce(block, writer);
    CopyBatch(NewPinned(), block, copies);
    Must(aclrtSynchronizeDevice());
}

// ggml: two back ends have a context each, and both use their default stream.
BAD_PROGRAM(UsesDefaultStreamsOfTwoContexts, "race", {{"race", "race", {"Produce", "Consume"}}}) {
    void* const memory = NewMemory();
    Produce(memory, nullptr);
    aclrtContext first = nullptr;
    aclrtContext second = nullptr;
    Must(aclrtGetCurrentContext(&first));
    Must(aclrtCreateContext(&second, 0));
    Consume(memory, nullptr);
    Must(aclrtSynchronizeDevice());
    Must(aclrtSetCurrentContext(first));
    Must(aclrtDestroyContext(second));
}

// ---- right

RIGHT_PROGRAM(ReadsWhatAnEventCovers) {
    const aclrtStream copies = NewStream();
    const aclrtStream compute = NewStream();
    void* const memory = NewMemory();
    CopyToDevice(memory, NewPinned(), copies);
    Order(copies, compute);
    Consume(memory, compute);
    Synchronize(compute);
    Synchronize(copies);
}

RIGHT_PROGRAM(ReadsInTwoStreams) {
    const aclrtStream first = NewStream();
    const aclrtStream second = NewStream();
    void* const memory = NewMemory();
    Consume(memory, first);
    Consume(memory, second);
    Must(aclrtSynchronizeDevice());
}

// Two buffers, copied and read in turn, with events both ways.
RIGHT_PROGRAM(PlaysPingPong) {
    const aclrtStream copies = NewStream();
    const aclrtStream compute = NewStream();
    void* const pinned = NewPinned();
    void* const out = NewMemory();
    void* const buffers[2] = {NewMemory(), NewMemory()};
    const aclrtEvent filled[2] = {NewEvent(), NewEvent()};
    const aclrtEvent read[2] = {NewEvent(), NewEvent()};
    for (int round = 0; round < 8; ++round) {
        const int i = round % 2;
        if (round >= 2) {
            Must(aclrtStreamWaitEvent(copies, read[i]));
        }
        CopyToDevice(buffers[i], pinned, copies);
        Must(aclrtRecordEvent(filled[i], copies));
        Must(aclrtStreamWaitEvent(compute, filled[i]));
        LaunchMove(buffers[i], out, compute);
        Must(aclrtRecordEvent(read[i], compute));
    }
    Must(aclrtSynchronizeDevice());
}

// An order through a third stream, with one event used again and again.
RIGHT_PROGRAM(OrdersThroughAThirdStream) {
    const aclrtStream streams[3] = {NewStream(), NewStream(), NewStream()};
    const aclrtEvent event = NewEvent();
    void* const memory = NewMemory();
    for (int round = 0; round < 6; ++round) {
        Produce(memory, streams[round % 3]);
        Must(aclrtRecordEvent(event, streams[round % 3]));
        Must(aclrtStreamWaitEvent(streams[(round + 1) % 3], event));
    }
    Must(aclrtSynchronizeDevice());
}

RIGHT_PROGRAM(UsesAWorkspaceAgainInOneStream) {
    const aclrtStream stream = NewStream();
    void* const workspace = NewMemory();
    for (int i = 0; i < 4; ++i) {
        LaunchMoveByWorkspace(NewMemory(), NewMemory(), workspace, stream);
    }
    Synchronize(stream);
}

RIGHT_PROGRAM(HasAWorkspacePerStream) {
    const aclrtStream first = NewStream();
    const aclrtStream second = NewStream();
    LaunchMoveByWorkspace(NewMemory(), NewMemory(), NewMemory(), first);
    LaunchMoveByWorkspace(NewMemory(), NewMemory(), NewMemory(), second);
    Must(aclrtSynchronizeDevice());
}

RIGHT_PROGRAM(CopiesBlockTablesAfterTheStep) {
    const aclrtStream compute = NewStream();
    const aclrtStream copies = NewStream();
    const Batch batch;
    void* const tables = NewPinned();
    Must(aclrtMemcpy(tables, 72, batch.blockTables, 72, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int step = 0; step < 3; ++step) {
        batch.Launch(compute);
        Order(compute, copies);
        CopyToDevice(batch.blockTables, tables, copies, 72);
        Order(copies, compute);
    }
    Must(aclrtSynchronizeDevice());
}

RIGHT_PROGRAM(CopiesFromTheHostAfterTheStream) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    std::vector<char> values(kBytes, 5);
    for (int i = 0; i < 3; ++i) {
        Must(aclrtMemcpy(memory, kBytes, values.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
        Consume(memory, stream);
        Synchronize(stream);
        Must(aclrtMemcpy(values.data(), kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    }
}

RIGHT_PROGRAM(StaysInTheDefaultStream) {
    void* const memory = NewMemory();
    Produce(memory, nullptr);
    Consume(memory, nullptr);
    aclrtStream named = nullptr;
    Must(aclrtCtxGetCurrentDefaultStream(&named));
    Produce(memory, named);
    Synchronize(nullptr);
}

RIGHT_PROGRAM(JoinsABranchBeforeItReads) {
    const aclrtStream main = NewStream();
    const aclrtStream branch = NewStream();
    const aclrtEvent forked = NewCaptureEvent();
    const aclrtEvent joined = NewCaptureEvent();
    void* const memory = NewMemory();
    void* const other = NewMemory();
    Must(aclmdlRICaptureBegin(main, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    Must(aclrtRecordEvent(forked, main));
    Must(aclrtStreamWaitEvent(branch, forked));
    Produce(memory, branch);
    Must(aclrtRecordEvent(joined, branch));
    Produce(other, main);
    Must(aclrtStreamWaitEvent(main, joined));
    CopyOnDevice(other, memory, main);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(main, &model));
    for (int i = 0; i < 3; ++i) {
        Must(aclmdlRIExecuteAsync(model, main));
    }
    Synchronize(main);
}

// Replays of one model run one after another, on any streams.
RIGHT_PROGRAM(ReplaysOneModelOnTwoStreams) {
    const aclrtStream streams[2] = {NewStream(), NewStream()};
    void* const memory = NewMemory();
    Must(aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    Produce(memory, streams[0]);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(streams[0], &model));
    Must(aclmdlRIExecuteAsync(model, streams[0]));
    Must(aclmdlRIExecuteAsync(model, streams[1]));
    Must(aclrtSynchronizeDevice());
}

RIGHT_PROGRAM(ReplaysTwoModelsInOrder) {
    const aclrtStream streams[2] = {NewStream(), NewStream()};
    aclmdlRI models[2] = {};
    void* const memory = NewMemory();
    for (int i = 0; i < 2; ++i) {
        Must(aclmdlRICaptureBegin(streams[i], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        Produce(memory, streams[i]);
        Must(aclmdlRICaptureEnd(streams[i], &models[i]));
    }
    Must(aclmdlRIExecuteAsync(models[0], streams[0]));
    Order(streams[0], streams[1]);
    Must(aclmdlRIExecuteAsync(models[1], streams[1]));
    Must(aclrtSynchronizeDevice());
}

RIGHT_PROGRAM(RenewsInputsBetweenReplays) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    void* const out = NewMemory();
    auto* const pinned = static_cast<char*>(NewPinned());
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CopyToDevice(memory, pinned, stream);
    LaunchMove(memory, out, stream);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(stream, &model));
    for (int i = 0; i < 3; ++i) {
        pinned[0] = static_cast<char>(i);
        Must(aclmdlRIExecuteAsync(model, stream));
        Synchronize(stream);
    }
}

// The wait is queued before the record.
RIGHT_PROGRAM(WaitsForALaterNotify) {
    const aclrtStream sender = NewStream();
    const aclrtStream receiver = NewStream();
    const aclrtNotify notify = NewNotify();
    void* const memory = NewMemory();
    Must(aclrtWaitAndResetNotify(notify, receiver, 0));
    Consume(memory, receiver);
    Produce(memory, sender);
    Must(aclrtRecordNotify(notify, sender));
    Must(aclrtSynchronizeDevice());
}

RIGHT_PROGRAM(WaitsForAValue) {
    const aclrtStream sender = NewStream();
    const aclrtStream receiver = NewStream();
    void* const flag = NewMemory(64);
    void* const memory = NewMemory();
    for (uint64_t step = 1; step <= 3; ++step) {
        Must(aclrtValueWait(flag, step, ACL_STREAM_WAIT_VALUE_GEQ, receiver));
        Consume(memory, receiver);
        Must(aclrtValueWrite(Beyond(flag, 8), step, 0, receiver));
        Produce(memory, sender);
        Must(aclrtValueWrite(flag, step, 0, sender));
        Must(aclrtValueWait(Beyond(flag, 8), step, ACL_STREAM_WAIT_VALUE_GEQ, sender));
    }
    Must(aclrtSynchronizeDevice());
}

RIGHT_PROGRAM(ReducesInTurn) {
    const aclrtStream streams[2] = {NewStream(), NewStream()};
    void* const sum = NewMemory();
    for (const aclrtStream stream : streams) {
        Must(aclrtReduceAsync(sum, NewMemory(), kBytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT,
                              stream, nullptr));
        Order(streams[0], streams[1]);
    }
    Must(aclrtSynchronizeDevice());
}

// Columns side by side: the ranges of the rows overlap, the bytes do not.
RIGHT_PROGRAM(CopiesColumnsSideBySide) {
    const aclrtStream left = NewStream();
    const aclrtStream right = NewStream();
    void* const matrix = NewMemory();
    void* const source = NewMemory();
    Must(aclrtMemcpy2dAsync(matrix, 64, source, 64, 32, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, left));
    Must(aclrtMemcpy2dAsync(Beyond(matrix, 32), 64, source, 64, 32, 63, ACL_MEMCPY_DEVICE_TO_DEVICE,
                            right));
    Must(aclrtSynchronizeDevice());
}

// Halves of a block in two streams; a prefix that both read.
RIGHT_PROGRAM(SharesAPrefixAndWritesHalves) {
    const aclrtStream first = NewStream();
    const aclrtStream second = NewStream();
    void* const prefix = NewMemory();
    void* const memory = NewMemory(2 * kBytes);
    CopyOnDevice(memory, prefix, first);
    CopyOnDevice(Beyond(memory, kBytes), prefix, second);
    Must(aclrtSynchronizeDevice());
}

RIGHT_PROGRAM(OrdersTheWorkOfThreads) {
    static std::mutex mutex;
    static aclrtEvent done = nullptr;
    const aclrtStream copies = NewStream();
    const aclrtStream compute = NewStream();
    void* const memory = NewMemory();
    std::thread([=] {
        const std::lock_guard<std::mutex> lock(mutex);
        Must(aclrtSetDevice(0));
        Produce(memory, copies);
        done = NewEvent();
        Must(aclrtRecordEvent(done, copies));
    }).join();
    {
        const std::lock_guard<std::mutex> lock(mutex);
        Must(aclrtStreamWaitEvent(compute, done));
        Consume(memory, compute);
    }
    Must(aclrtSynchronizeDevice());
}

// A thread waits for a stream; afterwards another thread queues work on the same bytes.
RIGHT_PROGRAM(HandsOverAfterASynchronisation) {
    static std::mutex mutex;
    void* const memory = NewMemory();
    for (int i = 0; i < 4; ++i) {
        std::thread([memory] {
            const std::lock_guard<std::mutex> lock(mutex);
            Must(aclrtSetDevice(0));
            const aclrtStream stream = NewStream();
            Produce(memory, stream);
            Synchronize(stream);
        }).join();
    }
}

// The stream of another thread orders the work of both.
RIGHT_PROGRAM(SharesAStreamBetweenThreads) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    Produce(memory, stream);
    std::thread([=] {
        Must(aclrtSetDevice(0));
        Consume(memory, stream);
        Produce(memory, stream);
    }).join();
    Consume(memory, stream);
    Synchronize(stream);
}

RIGHT_PROGRAM(WritesToAPeerInOrder) {
    Must(aclrtDeviceEnablePeerAccess(1, 0));
    const aclrtStream here = NewStream();
    void* const source = NewMemory();
    const aclrtEvent read = NewEvent();
    Must(aclrtSetDevice(1));
    Must(aclrtDeviceEnablePeerAccess(0, 0));
    const aclrtStream there = NewStream();
    void* const memory = NewMemory();
    Consume(memory, there);
    Must(aclrtRecordEvent(read, there));
    Must(aclrtSetDevice(0));
    Must(aclrtStreamWaitEvent(here, read));
    CopyOnDevice(memory, source, here);
    Synchronize(here);
}

RIGHT_PROGRAM(UsesAPinnedBufferAgainAfterTheEvent) {
    const aclrtStream stream = NewStream();
    const aclrtEvent copied = NewEvent();
    void* const memory = NewMemory();
    auto* const pinned = static_cast<volatile char*>(NewPinned());
    for (int i = 0; i < 4; ++i) {
        pinned[0] = static_cast<char>(i);
        CopyToDevice(memory, const_cast<char*>(pinned), stream);
        Must(aclrtRecordEvent(copied, stream));
        Must(aclrtSynchronizeEvent(copied));
    }
}

// Freed memory is used again by another stream, behind a synchronisation of the first.
RIGHT_PROGRAM(AllocatesAgainForAnotherStream) {
    const aclrtStream streams[2] = {NewStream(), NewStream()};
    for (int i = 0; i < 6; ++i) {
        void* const memory = NewUnwrittenMemory();
        Produce(memory, streams[i % 2]);
        Synchronize(streams[i % 2]);
        Must(aclrtFree(memory));
    }
}

// The batch reads the outer quarters, the other stream writes the inner half.
RIGHT_PROGRAM(CopiesABatchBesideAnotherPart) {
    const aclrtStream writer = NewStream();
    const aclrtStream copies = NewStream();
    void* const block = NewMemory();
    Must(aclrtMemsetAsync(Beyond(block, kBytes / 4), kBytes / 2, 1, kBytes / 2, writer));
    CopyBatch(NewPinned(), block, copies);
    Must(aclrtSynchronizeDevice());
}

RIGHT_PROGRAM(OrdersTwoContexts) {
    void* const memory = NewMemory();
    const aclrtEvent event = NewEvent();
    Produce(memory, nullptr);
    Must(aclrtRecordEvent(event, nullptr));
    aclrtContext first = nullptr;
    aclrtContext second = nullptr;
    Must(aclrtGetCurrentContext(&first));
    Must(aclrtCreateContext(&second, 0));
    Must(aclrtStreamWaitEvent(nullptr, event));
    Consume(memory, nullptr);
    Must(aclrtSynchronizeDevice());
    Must(aclrtSetCurrentContext(first));
    Must(aclrtDestroyContext(second));
}

// A conditional task whose sub-graph writes what the model reads behind it.
RIGHT_PROGRAM(ReplaysAConditionalTask) {
    const aclrtStream stream = NewStream();
    const aclrtStream inner = NewStream();
    void* const memory = NewMemory();
    void* const out = NewMemory();
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    aclmdlRI body = nullptr;
    aclmdlRICondHandle condition{};
    Must(aclmdlRICaptureGetInfo(stream, &status, &model));
    Must(aclmdlRICondHandleCreate(model, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition));
    Produce(memory, stream);
    aclmdlRICondTaskParams params{};
    params.handle = condition;
    params.type = ACL_MODEL_RI_COND_TYPE_IF;
    params.size = 1;
    params.modelRIArray = &body;
    Must(aclmdlRIAddCondTask(params, stream, 0));
    Must(aclmdlRICaptureToModelRIBegin(inner, body, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    Produce(memory, inner);
    aclmdlRI ended = nullptr;
    Must(aclmdlRICaptureEnd(inner, &ended));
    LaunchMove(memory, out, stream);
    Must(aclmdlRICaptureEnd(stream, &model));
    for (int i = 0; i < 2; ++i) {
        Must(aclmdlRIExecuteAsync(model, stream));
    }
    Synchronize(stream);
    Produce(memory, inner);
    Synchronize(inner);
}

// A time limit that is asked again until the work has ended.
RIGHT_PROGRAM(WritesAfterAWaitWithATimeout) {
    const aclrtStream stream = NewStream();
    const aclrtEvent event = NewEvent();
    void* const memory = NewMemory();
    Consume(memory, stream);
    Must(aclrtRecordEvent(event, stream));
    while (aclrtSynchronizeEventWithTimeout(event, 1) != ACL_SUCCESS) {
    }
    Must(aclrtMemset(memory, kBytes, 1, kBytes));
}

}  // namespace corpus
