// SPDX-License-Identifier: Apache-2.0
// The mistakes of programs in which streams, events, threads, captures and pools meet.
#include <cstdlib>
#include <cstring>
#include <thread>

#include "advance_step/host_operator.h"
#include "advance_step/sanitizer.h"
#include "corpus.h"
#include "device_program.h"

namespace corpus {

// Of the other files.
void GiveBack(void* memory);
void UseRange(const void* address, uint64_t bytes, aclrtStream stream);
void Produce(void* memory, aclrtStream stream);
void Consume(const void* memory, aclrtStream stream);
void ReadBack(const void* memory, size_t bytes);

namespace {

const support::Settings kStopsHere = {{"ADVANCE_STEP_SANITIZE_ACTION", "stop"}};

int32_t RunNothing(void*, char*, size_t) { return 0; }
void UseFlags(const void* address, uint64_t bytes, aclrtStream stream, const char* name = "op") {
    AdvStepMemoryRange range{address, bytes};
    AdvStepHostOperator operation{};
    operation.name = name;
    operation.run = &RunNothing;
    operation.ranges = &range;
    operation.rangeCount = 1;
    Must(advstepLaunchHostOperator(stream, &operation));
}

}  // namespace

// ggml: a cached address is used after a new block could have got it.
BAD_PROGRAM(UsesAFreedBlockAfterANewOne, "all", {{"memory", "used_after_free", {"GiveBack"}}}) {
    const aclrtStream s = NewStream();
    void* const m = NewMemory();
    GiveBack(m);
    void* const n = NewMemory();
    UseRange(n, kBytes, s);
    UseRange(m, kBytes, s);
    Synchronize(s);
}

BAD_PROGRAM(CopiesFromAFreedBlockAfterANewOne, "all",
            {{"memory", "used_after_free", {"GiveBack"}}}) {
    void* const m = NewMemory();
    GiveBack(m);
    void* const n = NewMemory();
    (void)n;
    char v[64];
    (void)aclrtMemcpy(v, 64, m, 64, ACL_MEMCPY_DEVICE_TO_HOST);
}

// Two owners of one block.
BAD_PROGRAM(FreesTwice, "all", {{"memory", "bad_free", {"aclrtFree", "GiveBack", "FreesTwice"}}}) {
    // [FreesTwice]
    void* const memory = NewMemory();
    GiveBack(memory);
    (void)aclrtFree(memory);
    // [/FreesTwice]
}

// A pool frees what it has cut out of its block.
BAD_PROGRAM(FreesTheMiddleOfABlock, "all", {{"memory", "bad_free", {"FreesTheMiddleOfABlock"}}}) {
    void* const m = NewMemory();
    (void)aclrtFree(Beyond(m, 512));
}

BAD_PROGRAM(FreesPinnedMemoryAsDeviceMemory, "all",
            {{"memory", "bad_free", {"FreesPinnedMemoryAsDeviceMemory"}}}) {
    void* const m = NewPinned();
    (void)aclrtFree(m);
}

// The bytes behind a block are those of another one, but for a library with the address sanitizer,
// whose blocks lie apart.
BAD_PROGRAM(GoesIntoTheNextBlock, "all", {{"memory", "out_of_view", {}}}) {
    const aclrtStream s = NewStream();
    constexpr size_t kM = size_t{2} << 20;
    std::vector<char*> all;
    for (int i = 0; i < 64; ++i) all.push_back(static_cast<char*>(NewMemory(kM)));
    char* before = all.front();
    for (char* x : all)
        for (char* y : all)
            if (x + kM == y) before = x;
    UseRange(before, kM + 64, s);
    Synchronize(s);
}

BAD_PROGRAM(UsesMemoryOfAResetDevice, "all", {{"memory", "used_after_free", {}}}) {
    void* const m = NewMemory();
    Must(aclrtResetDevice(0));
    Must(aclrtSetDevice(0));
    const aclrtStream s = NewStream();
    UseRange(m, kBytes, s);
    Synchronize(s);
}

// The device of the block is synchronised, and the copy is in a stream of the other one.
BAD_PROGRAM(FreesWhatAPeerStillCopies, "all", {{"memory", "freed_in_use", {"GiveBack"}}}) {
    Must(aclrtDeviceEnablePeerAccess(1, 0));
    const aclrtStream s0 = NewStream();
    void* const here = NewMemory();
    Must(aclrtSetDevice(1));
    Must(aclrtDeviceEnablePeerAccess(0, 0));
    void* const there = NewMemory();
    Must(aclrtSetDevice(0));
    CopyOnDevice(here, there, s0);
    Must(aclrtSetDevice(1));
    Must(aclrtSynchronizeDevice());  // of the wrong device
    GiveBack(there);
    Must(aclrtSetDevice(0));
    Synchronize(s0);
    Must(aclrtResetDevice(1));
}

BAD_PROGRAM(FreesInAHostFunctionWithoutAnEvent, "all", {{"memory", "freed_in_use", {"GiveBack"}}}) {
    const aclrtStream a = NewStream(), b = NewStream();
    void* const m = NewMemory();
    Fill(m, a);
    Must(aclrtLaunchHostFunc(b, &GiveBack, m));
    Synchronize(b);
    Synchronize(a);
}

BAD_PROGRAM(WaitsForItsOwnStreamOnly, "all", {{"memory", "freed_in_use", {}}}) {
    // one thread believes that its own stream's synchronisation covers the other one's
    const aclrtStream a = NewStream(), b = NewStream();
    void* const m = NewMemory();
    Fill(m, a);
    std::thread([&] {
        Must(aclrtSetDevice(0));
        Fill(NewMemory(), b);
        Synchronize(b);
        GiveBack(m);
    }).join();
    Synchronize(a);
}

BAD_PROGRAM(UnmapsWithoutAWait, "all", {{"memory", "freed_in_use|unmapped_in_use", {}}}) {
    constexpr size_t kM = size_t{2} << 20;
    const aclrtStream s = NewStream();
    void* address = nullptr;
    Must(aclrtReserveMemAddress(&address, kM, 0, nullptr, 0));
    aclrtPhysicalMemProp p{};
    p.memAttr = ACL_HBM_MEM_HUGE;
    p.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    aclrtDrvMemHandle h = nullptr;
    Must(aclrtMallocPhysical(&h, kM, &p, 0));
    Must(aclrtMapMem(address, kM, 0, h, 0));
    Fill(address, s);
    (void)aclrtReleaseMemAddress(address);
    (void)aclrtUnmapMem(address);
    Synchronize(s);
}

BAD_PROGRAM(UnregistersUnderAReplay, "all", {{"memory", "unregistered_in_use", {}}}) {
    const aclrtStream s = NewStream();
    void* const host = std::aligned_alloc(4096, kBytes);
    std::memset(host, 1, kBytes);
    void* mapped = nullptr;
    void* const m = NewMemory();
    Must(aclrtHostRegister(host, kBytes, ACL_HOST_REGISTER_MAPPED, &mapped));
    Must(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    CopyToDevice(m, host, s);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(s, &model));
    Must(aclmdlRIExecuteAsync(model, s));
    (void)aclrtHostUnregister(host);
    Synchronize(s);
}

BAD_PROGRAM(TakesABlockBackUnderAReplay, "all", {{"memory", "freed_in_use", {}}}) {
    const aclrtStream s = NewStream();
    char* const pool = static_cast<char*>(NewMemory(2 * kBytes));
    Must(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    Fill(pool + kBytes, s);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(s, &model));
    Must(aclmdlRIExecuteAsync(model, s));
    Must(advstepPoisonMemory(pool + kBytes, kBytes));
    Synchronize(s);
}

BAD_PROGRAM(ReplaysOnABlockThatWasTakenBack, "all", {{"memory", "poisoned", {}}}) {
    const aclrtStream s = NewStream();
    char* const pool = static_cast<char*>(NewMemory(2 * kBytes));
    Must(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    Fill(pool + kBytes, s);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(s, &model));
    Must(advstepPoisonMemory(pool + kBytes, kBytes));
    Must(aclmdlRIExecuteAsync(model, s));
    Synchronize(s);
}

BAD_PROGRAM(CopiesABlockThatWasTakenBack, "all", {{"memory", "poisoned", {"aclrtMemcpy"}}}) {
    void* const m = NewMemory();
    Must(advstepPoisonMemory(Beyond(m, 1024), 8));
    ReadBack(m, kBytes);
}

// A pool gives a block to another stream at once.
BAD_PROGRAM(HandsABlockToAnotherStream, "all", {{"memory", "freed_in_use", {}}},
            {{"race", "race", {}}}) {
    const aclrtStream a = NewStream(), b = NewStream();
    void* const pool = NewMemory();
    Fill(pool, a);
    Must(advstepPoisonMemory(pool, kBytes));
    Must(advstepUnpoisonMemory(pool, kBytes));
    Fill(pool, b);
    Must(aclrtSynchronizeDevice());
}

// A callback without ACL_CALLBACK_BLOCK reads what the next step writes.
BAD_PROGRAM(ReadsInACallbackThatBlocksNothing, "all", {{"race", "race", {"aclrtMemcpy"}}}) {
    const aclrtStream s = NewStream();
    void* const m = NewMemory();
    Must(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), s));
    Fill(m, s);
    Must(aclrtLaunchCallback([](void* x) { ReadBack(x, kBytes); }, m, ACL_CALLBACK_NO_BLOCK, s));
    Fill(m, s);
    Must(aclrtProcessReport(-1));
    Synchronize(s);
    Must(aclrtUnSubscribeReport(static_cast<uint64_t>(pthread_self()), s));
}

BAD_PROGRAM(DownloadsIntoWhatIsUploaded, "all",
            {{"race", "race", {"CopyToHost", "CopyToDevice"}}}) {
    const aclrtStream a = NewStream(), b = NewStream();
    void* const p = NewPinned();
    CopyToDevice(NewMemory(), p, a);
    CopyToHost(p, NewMemory(), b);
    Must(aclrtSynchronizeDevice());
}

BAD_PROGRAM(WritesInTwoBranches, "all", {{"race", "race", {"aclmdlRIExecuteAsync"}}}) {
    const aclrtStream main = NewStream(), side = NewStream();
    const aclrtEvent fork = NewCaptureEvent(), join = NewCaptureEvent();
    void* const m = NewMemory();
    Must(aclmdlRICaptureBegin(main, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    Must(aclrtRecordEvent(fork, main));
    Must(aclrtStreamWaitEvent(side, fork));
    Produce(m, side);
    Fill(m, main);
    Must(aclrtRecordEvent(join, side));
    Must(aclrtStreamWaitEvent(main, join));
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(main, &model));
    Must(aclmdlRIExecuteAsync(model, main));
    Synchronize(main);
}

// A ring of two slots whose producer waits for nobody.
BAD_PROGRAM(LapsARingOfSlots, "all", {{"race", "race", {}}}) {
    // the ring has two slots and the producer runs three ahead
    const aclrtStream producer = NewStream(), consumer = NewStream();
    void* const filled = NewMemory(64);
    void* slot[2] = {NewMemory(), NewMemory()};
    for (uint64_t i = 1; i <= 3; ++i) {
        Produce(slot[i % 2], producer);
        Must(aclrtValueWrite(filled, i, 0, producer));
        Must(aclrtValueWait(filled, i, ACL_STREAM_WAIT_VALUE_GEQ, consumer));
        Consume(slot[i % 2], consumer);
    }
    Must(aclrtSynchronizeDevice());
}

BAD_PROGRAM(GivesOneNotifyForTwo, "all", {{"race", "race", {}}}) {
    // two producers share one notify; the consumer takes it once
    const aclrtStream a = NewStream(), b = NewStream(), c = NewStream();
    const aclrtNotify n = NewNotify();
    void* const m = NewMemory(2 * kBytes);
    Fill(m, a);
    Must(aclrtRecordNotify(n, a));
    Fill(Beyond(m, kBytes), b);
    Must(aclrtWaitAndResetNotify(n, c, 0));
    LaunchMove(m, NewMemory(2 * kBytes), c, 2 * kBytes);
    Must(aclrtSynchronizeDevice());
}

BAD_PROGRAM(WaitsInACircleOfThree, "all", {{"sync", "deadlock", {}}}, {}, kStopsHere) {
    aclrtStream s[3];
    aclrtNotify n[3];
    for (int i = 0; i < 3; ++i) {
        s[i] = NewStream();
        n[i] = NewNotify();
    }
    for (int i = 0; i < 3; ++i) {
        Must(aclrtWaitAndResetNotify(n[i], s[i], 0));
        Must(aclrtRecordNotify(n[(i + 1) % 3], s[i]));
    }
    Must(aclrtSynchronizeDevice());
}

BAD_PROGRAM(WaitsForAThreadThatWaits, "all", {{"sync", "deadlock", {}}}, {}, kStopsHere) {
    const aclrtStream a = NewStream(), b = NewStream();
    const aclrtNotify na = NewNotify(), nb = NewNotify();
    Must(aclrtWaitAndResetNotify(na, a, 0));
    Must(aclrtWaitAndResetNotify(nb, b, 0));
    std::thread t([&] {
        Must(aclrtSetDevice(0));
        Synchronize(b);
        Must(aclrtRecordNotify(na, b));
    });
    Synchronize(a);
    Must(aclrtRecordNotify(nb, a));
    t.join();
}

BAD_PROGRAM(WaitsForAnEventBehindANotify, "all", {{"sync", "deadlock", {"aclrtSynchronizeEvent"}}},
            {}, kStopsHere) {
    const aclrtStream a = NewStream();
    const aclrtEvent e = NewCaptureEvent();
    Must(aclrtWaitAndResetNotify(NewNotify(), a, 0));
    Must(aclrtRecordEvent(e, a));
    Must(aclrtSynchronizeEvent(e));
}

BAD_PROGRAM(QueriesInACapture, "all", {{"sync", "sync_in_capture", {"aclrtStreamQuery"}}}) {
    const aclrtStream a = NewStream();
    Must(aclmdlRICaptureBegin(a, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    aclrtStreamStatus st = ACL_STREAM_STATUS_COMPLETE;
    (void)aclrtStreamQuery(a, &st);
    aclmdlRI m = nullptr;
    (void)aclmdlRICaptureEnd(a, &m);
}

// A loop that joins streams ends too early.
BAD_PROGRAM(JoinsAllStreamsButOne, "all",
            {{"sync", "event_never_waited", {}}, {"race", "race", {}}}) {
    const aclrtStream main = NewStream();
    const aclrtStream s[3] = {NewStream(), NewStream(), NewStream()};
    aclrtEvent e[3];
    void* const m = NewMemory(3 * kBytes);
    for (int i = 0; i < 3; ++i) {
        e[i] = NewCaptureEvent();
        Fill(Beyond(m, i * kBytes), s[i]);
        Must(aclrtRecordEvent(e[i], s[i]));
    }
    for (int i = 0; i < 2; ++i) Must(aclrtStreamWaitEvent(main, e[i]));
    LaunchMove(m, NewMemory(3 * kBytes), main, 3 * kBytes);
    Must(aclrtSynchronizeDevice());
    for (auto x : e) Must(aclrtDestroyEvent(x));
}

BAD_PROGRAM(RecordsTwiceForNobody, "all",
            {{"sync", "event_never_waited", {}}, {"sync", "event_never_waited", {}}}) {
    const aclrtStream s = NewStream();
    const aclrtEvent a = NewCaptureEvent(), b = NewCaptureEvent();
    Fill(NewMemory(), s);
    Must(aclrtRecordEvent(a, s));
    Must(aclrtRecordEvent(b, s));
    Synchronize(s);
    Must(aclrtDestroyEvent(a));
    Must(aclrtDestroyEvent(b));
}

// Of two events with work between them the wrong one is waited for.
BAD_PROGRAM(WaitsForTheEarlierEvent, "all",
            {{"sync", "event_never_waited", {}}, {"race", "race", {}}}) {
    const aclrtStream s = NewStream(), t = NewStream();
    const aclrtEvent a = NewCaptureEvent(), b = NewCaptureEvent();
    void* const m = NewMemory();
    Must(aclrtRecordEvent(a, s));
    Produce(m, s);
    Must(aclrtRecordEvent(b, s));
    Must(aclrtStreamWaitEvent(t, a));
    Consume(m, t);
    Must(aclrtSynchronizeDevice());
}

BAD_PROGRAM(SynchronizesTheStreamThatHasNotFailed, "all", {{"sync", "error_never_asked", {}}}) {
    const aclrtStream a = NewStream(), b = NewStream();
    Must(advstepFailStream(a, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION));
    Fill(NewMemory(), b);
    Synchronize(b);
}

BAD_PROGRAM(UploadsTheRowsWithoutThePadding, "all", {{"init", "unwritten", {}}}) {
    // a batch is padded on the host, but only its rows are uploaded
    const aclrtStream s = NewStream();
    void* const m = NewUnwrittenMemory();
    CopyToDevice(m, NewPinned(), s, kBytes - 64);
    LaunchMove(m, NewMemory(), s);
    Synchronize(s);
}

BAD_PROGRAM(ReplaysBeforeTheInput, "all", {{"init", "unwritten", {}}}) {
    const aclrtStream s = NewStream();
    void* const in = NewUnwrittenMemory();
    void* const out = NewMemory();
    Must(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    UseFlags(in, kBytes | ADVSTEP_RANGE_READ, s, "aclnnRead");
    UseFlags(out, kBytes | ADVSTEP_RANGE_WRITTEN, s, "aclnnWrite");
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(s, &model));
    Must(aclmdlRIExecuteAsync(model, s));
    Must(aclrtMemcpyAsync(in, kBytes, NewPinned(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, s));
    Synchronize(s);
}

}  // namespace corpus
