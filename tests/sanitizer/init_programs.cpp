// SPDX-License-Identifier: Apache-2.0
// Device memory that is read before it was written, and memory that only looks so.
#include "corpus.h"
#include "device_program.h"

namespace corpus {

// Names of their own, for the stacks.
void* FreshMemory(size_t bytes = kBytes) { return NewUnwrittenMemory(bytes); }
void ReadBack(const void* memory, size_t bytes = kBytes) {
    std::vector<char> values(bytes);
    Must(aclrtMemcpy(values.data(), bytes, memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
}

// ---- bad

// CANN's restrictions: the contents of fresh memory are random; a program took them for zeros.
BAD_PROGRAM(ReadsFreshMemory, "init",
            {{"init", "unwritten", {"aclrtMemcpy", "ReadBack", "FreshMemory"}}}) {
    ReadBack(FreshMemory());
}

// vllm-ascend: sequence lengths are allocated and never set.
BAD_PROGRAM(StepsOnFreshLengths, "init",
            {{"init", "unwritten", {"aclnnAdvanceStep", "seqLens", "FreshMemory"}}},
            {{"init", "unwritten", {}}}) {
    Batch batch;
    batch.seqLens = FreshMemory(24);
    batch.Launch(nullptr);
    (void)aclrtSynchronizeStream(nullptr);
}

// ggml-cann: the padding of a tensor goes into a sum.
BAD_PROGRAM(UsesPadding, "init",
            {{"init", "unwritten", {"aclrtReduceAsync", "256 bytes", "FreshMemory"}}}) {
    // [UsesPadding]
    const aclrtStream stream = NewStream();
    void* const padded = FreshMemory();
    Must(aclrtMemsetAsync(padded, kBytes, 1, kBytes - 256, stream));
    Must(aclrtReduceAsync(NewMemory(), padded, kBytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32,
                          stream, nullptr));
    Synchronize(stream);
    // [/UsesPadding]
}

// torch.empty: a clone of unwritten memory is used; the copy itself is no use.
BAD_PROGRAM(UsesACopyOfFreshMemory, "init", {{"init", "unwritten", {"aclnnMove", "self"}}}) {
    // [UsesACopyOfFreshMemory]
    const aclrtStream stream = NewStream();
    void* const copy = NewMemory();
    CopyOnDevice(copy, FreshMemory(), stream);
    LaunchMove(copy, NewMemory(), stream);
    Synchronize(stream);
    // [/UsesACopyOfFreshMemory]
}

// Engines with caches: a block that comes back has the last owner's values.
BAD_PROGRAM(TrustsAFreedBlock, "init", {{"init", "unwritten", {"ReadBack", "FreshMemory"}}}) {
    void* const first = NewMemory();
    Must(aclrtFree(first));
    ReadBack(FreshMemory());
}

// Image pipelines: a copy with a pitch leaves gaps, and the whole is read.
BAD_PROGRAM(ReadsGapsOfAPitch, "init",
            {{"init", "unwritten", {"aclrtMemcpyAsync", "CopyToHost"}}}) {
    const aclrtStream stream = NewStream();
    void* const image = FreshMemory();
    void* const rows = NewMemory();
    Must(aclrtMemcpy2dAsync(image, 64, rows, 48, 48, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    CopyToHost(NewPinned(), image, stream);
    Synchronize(stream);
}

// Split-K products: partial sums are added to a buffer that nobody has cleared.
BAD_PROGRAM(AddsToFreshMemory, "init",
            {{"init", "unwritten", {"aclrtReduceAsync", "FreshMemory"}}}) {
    const aclrtStream stream = NewStream();
    Must(aclrtReduceAsync(FreshMemory(), NewMemory(), kBytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                          ACL_INT32, stream, nullptr));
    Synchronize(stream);
}

// torch.npu graphs: a graph reads a static input that was never filled.
BAD_PROGRAM(ReplaysOnAFreshInput, "init",
            {{"init", "unwritten", {"aclnnMove", "self", "FreshMemory"}}}) {
    const aclrtStream stream = NewStream();
    void* const input = FreshMemory();
    void* const out = NewMemory();
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    LaunchMove(input, out, stream);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(stream, &model));
    Must(aclmdlRIExecuteAsync(model, stream));
    Synchronize(stream);
}

// Checkpoints: the tail of a buffer is saved that the last batch did not fill.
BAD_PROGRAM(SavesTheTail, "init", {{"init", "unwritten", {"aclrtMemcpy", "ReadBack"}}}) {
    void* const buffer = FreshMemory();
    Must(aclrtMemset(buffer, kBytes, 1, kBytes / 2));
    ReadBack(buffer);
}

// Image pipelines: the width of the copy back is that of the pitch.
BAD_PROGRAM(ReadsWiderRows, "init",
            {{"init", "unwritten", {"aclrtMemcpy2dAsync", "FreshMemory"}}}) {
    const aclrtStream stream = NewStream();
    void* const image = FreshMemory();
    void* const rows = NewMemory();
    Must(aclrtMemcpy2dAsync(image, 64, rows, 48, 48, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    Must(aclrtMemcpy2dAsync(NewPinned(), 52, image, 64, 52, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    Synchronize(stream);
}

// Flags in device memory: a stream waits for a word that nobody has set to 0.
BAD_PROGRAM(WaitsForAFreshWord, "init", {{"init", "unwritten", {"aclrtValueWait", "FreshMemory"}}},
            {{"race", "race", {}}}) {
    const aclrtStream waiting = NewStream();
    void* const flag = FreshMemory(64);
    Must(aclrtValueWait(flag, 1, ACL_STREAM_WAIT_VALUE_NOR, waiting));
    Synchronize(waiting);
}

// ---- right

RIGHT_PROGRAM(ReadsWhatWasFilled) {
    void* const memory = FreshMemory();
    Must(aclrtMemset(memory, kBytes, 0, kBytes));
    ReadBack(memory);
}

RIGHT_PROGRAM(ReadsThePartThatWasFilled) {
    const aclrtStream stream = NewStream();
    void* const memory = FreshMemory();
    Fill(memory, stream, kBytes / 2);
    Synchronize(stream);
    ReadBack(memory, kBytes / 2);
}

// Copies of a padded buffer, padding included, of which only the filled part is used.
RIGHT_PROGRAM(CopiesPaddingAndDoesNotUseIt) {
    const aclrtStream stream = NewStream();
    void* const padded = FreshMemory();
    void* const copy = FreshMemory();
    void* const again = FreshMemory();
    Fill(padded, stream, kBytes - 256);
    CopyOnDevice(copy, padded, stream);
    CopyOnDevice(again, copy, stream);
    LaunchMove(again, FreshMemory(), stream, kBytes - 256);
    Synchronize(stream);
}

RIGHT_PROGRAM(ReadsTheRowsOfAPitch) {
    const aclrtStream stream = NewStream();
    void* const image = FreshMemory();
    void* const rows = NewMemory();
    Must(aclrtMemcpy2dAsync(image, 64, rows, 48, 48, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    Must(aclrtMemcpy2dAsync(NewPinned(), 48, image, 64, 48, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    Synchronize(stream);
}

RIGHT_PROGRAM(ReadsWhatAnOperatorWrote) {
    const aclrtStream stream = NewStream();
    void* const out = FreshMemory();
    LaunchMoveByWorkspace(NewMemory(), out, FreshMemory(), stream);
    Synchronize(stream);
    ReadBack(out);
}

RIGHT_PROGRAM(AddsToClearedMemory) {
    const aclrtStream stream = NewStream();
    void* const sum = FreshMemory();
    Must(aclrtMemsetAsync(sum, kBytes, 0, kBytes, stream));
    Must(aclrtReduceAsync(sum, NewMemory(), kBytes, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32,
                          stream, nullptr));
    Synchronize(stream);
}

RIGHT_PROGRAM(ReplaysOnAFilledInput) {
    const aclrtStream stream = NewStream();
    void* const input = FreshMemory();
    void* const out = FreshMemory();
    Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    LaunchMove(input, out, stream);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(stream, &model));
    Fill(input, stream);
    Must(aclmdlRIExecuteAsync(model, stream));
    Synchronize(stream);
    ReadBack(out);
}

// A step writes slotMapping, inputTokens and inputPositions; only lengths, tables and samples are
// read.
RIGHT_PROGRAM(StepsIntoFreshOutputs) {
    Batch batch;
    batch.slotMapping = FreshMemory(24);
    batch.Launch(nullptr);
    Synchronize(nullptr);
    ReadBack(batch.slotMapping, 24);
}

RIGHT_PROGRAM(FillsARecycledBlock) {
    const aclrtStream stream = NewStream();
    for (int i = 0; i < 4; ++i) {
        void* const memory = FreshMemory();
        Fill(memory, stream);
        LaunchMove(memory, NewMemory(), stream);
        Synchronize(stream);
        Must(aclrtFree(memory));
    }
}

RIGHT_PROGRAM(ReadsMappedMemoryThatIsZero) {
    constexpr size_t kMappedBytes = size_t{2} << 20;
    void* address = nullptr;
    aclrtDrvMemHandle handle = nullptr;
    aclrtPhysicalMemProp properties{};
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    Must(aclrtReserveMemAddress(&address, kMappedBytes, 0, nullptr, 0));
    Must(aclrtMallocPhysical(&handle, kMappedBytes, &properties, 0));
    Must(aclrtMapMem(address, kMappedBytes, 0, handle, 0));
    Must(aclrtMemset(address, kBytes, 1, kBytes));
    ReadBack(address);
}

}  // namespace corpus
