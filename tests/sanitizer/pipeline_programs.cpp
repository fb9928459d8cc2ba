// SPDX-License-Identifier: Apache-2.0
// Right programs in which streams, events, threads, captures and pools meet, as in pipelines and
// engines.
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
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

struct Flag {
    std::mutex mutex;
    std::condition_variable changed;
    bool isSet = false;
};

}  // namespace

// A destructor that runs late frees what the reset has freed.
RIGHT_PROGRAM(FreesWhatTheResetHasFreed) {
    void* const device = NewMemory();
    Must(aclrtResetDevice(0));
    Must(aclrtSetDevice(0));
    (void)aclrtFree(device);
    void* const memory = NewMemory();
    Fill(memory, nullptr);
    Synchronize(nullptr);
    GiveBack(memory);
}

// Two buffers in turns; nobody waits for the last records, and one event is used once.
RIGHT_PROGRAM(RotatesTwoBuffers) {
    const aclrtStream copies = NewStream(), compute = NewStream();
    void* const device[2] = {NewMemory(), NewMemory()};
    void* const pinned[2] = {NewPinned(), NewPinned()};
    aclrtEvent loaded[2] = {NewCaptureEvent(), NewCaptureEvent()},
               used[2] = {NewCaptureEvent(), NewCaptureEvent()};
    for (int i = 0; i < 3; ++i) {
        const int b = i % 2;
        if (i >= 2) {
            Must(aclrtSynchronizeEvent(loaded[b]));
            Must(aclrtStreamWaitEvent(copies, used[b]));
        }
        std::memset(pinned[b], i, kBytes);
        CopyToDevice(device[b], pinned[b], copies);
        Must(aclrtRecordEvent(loaded[b], copies));
        Must(aclrtStreamWaitEvent(compute, loaded[b]));
        Consume(device[b], compute);
        Must(aclrtRecordEvent(used[b], compute));
    }
    Must(aclrtSynchronizeDevice());
    for (int b = 0; b < 2; ++b) {
        Must(aclrtDestroyEvent(loaded[b]));
        Must(aclrtDestroyEvent(used[b]));
    }
}

// An allocator that asks for the events of freed blocks when it has many; the last ones are left.
RIGHT_PROGRAM(FreesByTheEventsOfAnAllocator) {
    const aclrtStream stream = NewStream();
    struct Pending {
        void* memory;
        aclrtEvent event;
    };
    std::deque<Pending> pending;
    for (int i = 0; i < 6; ++i) {
        while (pending.size() > 2) {
            Must(aclrtSynchronizeEvent(pending.front().event));
            Must(aclrtFree(pending.front().memory));
            Must(aclrtDestroyEvent(pending.front().event));
            pending.pop_front();
        }
        void* const memory = NewMemory();
        Fill(memory, stream);
        aclrtEvent event = NewCaptureEvent();
        Must(aclrtRecordEvent(event, stream));
        pending.push_back({memory, event});
    }
    Synchronize(stream);
    for (auto& p : pending) {
        Must(aclrtDestroyEvent(p.event));
        Must(aclrtFree(p.memory));
    }
}

// An event for each step, waited for two steps later, and left alone at the end.
RIGHT_PROGRAM(LagsTwoStepsBehind) {
    // events around replays, one per step, waited for with a lag of two
    const aclrtStream s = NewStream();
    void* const m = NewMemory();
    Must(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    Fill(m, s);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(s, &model));
    std::deque<aclrtEvent> lag;
    for (int i = 0; i < 6; ++i) {
        Must(aclmdlRIExecuteAsync(model, s));
        const aclrtEvent e = NewCaptureEvent();
        Must(aclrtRecordEvent(e, s));
        lag.push_back(e);
        if (lag.size() > 2) {
            Must(aclrtSynchronizeEvent(lag.front()));
            Must(aclrtDestroyEvent(lag.front()));
            lag.pop_front();
        }
    }
    Must(aclrtSynchronizeDevice());
}

RIGHT_PROGRAM(EndsBeforeTheLastEventIsAsked) {
    // events of a loop end with the runtime, not destroyed
    const aclrtStream s = NewStream();
    aclrtEvent before = nullptr;
    for (int i = 0; i < 4; ++i) {
        Fill(NewMemory(), s);
        const aclrtEvent e = NewCaptureEvent();
        Must(aclrtRecordEvent(e, s));
        if (before != nullptr) {
            Must(aclrtSynchronizeEvent(before));
            Must(aclrtDestroyEvent(before));
        }
        before = e;
    }
    Synchronize(s);
}

// torch: the future of a collective records an event behind that of the work, and ends unasked.
RIGHT_PROGRAM(RecordsForTheWorkAndItsFuture) {
    const aclrtStream copies = NewStream(), compute = NewStream();
    const aclrtEvent done = NewCaptureEvent(), future = NewCaptureEvent();
    void* const m = NewMemory();
    Produce(m, copies);
    Must(aclrtRecordEvent(done, copies));
    Must(aclrtRecordEvent(future, copies));
    Must(aclrtDestroyEvent(future));
    Must(aclrtStreamWaitEvent(compute, done));
    Consume(m, compute);
    Synchronize(compute);
    Must(aclrtDestroyEvent(done));
}

RIGHT_PROGRAM(CapturesTheWorkAndItsFuture) {
    const aclrtStream main = NewStream(), side = NewStream();
    const aclrtEvent fork = NewCaptureEvent(), done = NewCaptureEvent(), future = NewCaptureEvent();
    void* const m = NewMemory();
    Must(aclmdlRICaptureBegin(main, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    Must(aclrtRecordEvent(fork, main));
    Must(aclrtStreamWaitEvent(side, fork));
    Produce(m, side);
    Must(aclrtRecordEvent(done, side));
    Must(aclrtRecordEvent(future, side));
    Must(aclrtStreamWaitEvent(main, done));
    Consume(m, main);
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureEnd(main, &model));
    Must(aclmdlRIExecuteAsync(model, main));
    Synchronize(main);
}

// Two models that use the same buffers, in turns on two streams.
RIGHT_PROGRAM(ReplaysTwoModelsInTurns) {
    const aclrtStream s[2] = {NewStream(), NewStream()};
    void* const a = NewMemory();
    void* const b = NewMemory();
    aclmdlRI m[2] = {};
    for (int i = 0; i < 2; ++i) {
        Must(aclmdlRICaptureBegin(s[i], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        LaunchMove(i == 0 ? a : b, i == 0 ? b : a, s[i]);
        Must(aclmdlRICaptureEnd(s[i], &m[i]));
    }
    aclrtEvent done[2] = {NewEvent(), NewEvent()};
    for (int i = 0; i < 6; ++i) {
        const int k = i % 2;
        if (i > 0) Must(aclrtStreamWaitEvent(s[k], done[1 - k]));
        Must(aclmdlRIExecuteAsync(m[k], s[k]));
        Must(aclrtRecordEvent(done[k], s[k]));
    }
    Must(aclrtSynchronizeDevice());
    ReadBack(a, kBytes);
}

// Branches that join other branches; replays on two streams.
RIGHT_PROGRAM(CapturesNestedBranches) {
    const aclrtStream main = NewStream();
    const aclrtStream side[3] = {NewStream(), NewStream(), NewStream()};
    const aclrtStream replay = NewStream();
    void* const in = NewMemory();
    void* part[3];
    const aclrtEvent fork = NewCaptureEvent();
    aclmdlRI model = nullptr;
    Must(aclmdlRICaptureBegin(main, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    Fill(in, main);
    Must(aclrtRecordEvent(fork, main));
    for (int i = 0; i < 3; ++i) {
        part[i] = NewUnwrittenMemory();
        Must(aclrtStreamWaitEvent(side[i], fork));
        CopyOnDevice(part[i], in, side[i]);
    }
    // nested: side[0] joins side[1], which joins side[2]
    for (int i = 0; i < 2; ++i) {
        const aclrtEvent e = NewCaptureEvent();
        Must(aclrtRecordEvent(e, side[i]));
        Must(aclrtStreamWaitEvent(side[i + 1], e));
        CopyOnDevice(part[i + 1], part[i], side[i + 1]);
    }
    const aclrtEvent join = NewCaptureEvent();
    Must(aclrtRecordEvent(join, side[2]));
    Must(aclrtStreamWaitEvent(main, join));
    LaunchMove(part[2], in, main);
    Must(aclmdlRICaptureEnd(main, &model));
    for (int i = 0; i < 3; ++i) {
        Must(aclmdlRIExecuteAsync(model, replay));
        Must(aclmdlRIExecuteAsync(model, main));
    }
    Synchronize(main);
    Synchronize(replay);
    ReadBack(part[2], kBytes);
    Must(aclmdlRIDestroy(model));
    for (void* p : part) GiveBack(p);
}

RIGHT_PROGRAM(PassesANotifyAround) {
    constexpr int kN = 3;
    aclrtStream s[kN];
    aclrtNotify n[kN];
    void* const token = NewMemory();
    for (int i = 0; i < kN; ++i) {
        s[i] = NewStream();
        n[i] = NewNotify();
    }
    Must(aclrtRecordNotify(n[0], s[kN - 1]));
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < kN; ++i) {
            Must(aclrtWaitAndResetNotify(n[i], s[i], 0));
            UseRange(token, kBytes, s[i]);
            Must(aclrtRecordNotify(n[(i + 1) % kN], s[i]));
        }
    }
    Must(aclrtSynchronizeDevice());
}

// A ring of two slots by two counters.
RIGHT_PROGRAM(RunsARingOfSlots) {
    const aclrtStream producer = NewStream(), consumer = NewStream();
    void* const filled = NewMemory(64);
    void* const drained = NewMemory(64);
    void* slot[2] = {NewMemory(), NewMemory()};
    for (uint64_t i = 1; i <= 6; ++i) {
        if (i > 2) Must(aclrtValueWait(drained, i - 2, ACL_STREAM_WAIT_VALUE_GEQ, producer));
        Produce(slot[i % 2], producer);
        Must(aclrtValueWrite(filled, i, 0, producer));
        Must(aclrtValueWait(filled, i, ACL_STREAM_WAIT_VALUE_GEQ, consumer));
        Consume(slot[i % 2], consumer);
        Must(aclrtValueWrite(drained, i, 0, consumer));
    }
    Synchronize(consumer);
    Synchronize(producer);
}

// All of the producer is queued before the consumer.
RIGHT_PROGRAM(RunsARingThatIsQueuedApart) {
    const aclrtStream producer = NewStream(), consumer = NewStream();
    void* const filled = NewMemory(64);
    void* const drained = NewMemory(64);
    void* slot[2] = {NewMemory(), NewMemory()};
    for (uint64_t i = 1; i <= 6; ++i) {
        if (i > 2) Must(aclrtValueWait(drained, i - 2, ACL_STREAM_WAIT_VALUE_GEQ, producer));
        Produce(slot[i % 2], producer);
        Must(aclrtValueWrite(filled, i, 0, producer));
    }
    for (uint64_t i = 1; i <= 6; ++i) {
        Must(aclrtValueWait(filled, i, ACL_STREAM_WAIT_VALUE_GEQ, consumer));
        Consume(slot[i % 2], consumer);
        Must(aclrtValueWrite(drained, i, 0, consumer));
    }
    Synchronize(consumer);
    Synchronize(producer);
}

RIGHT_PROGRAM(ReusesAPoolByEvents) {
    const aclrtStream a = NewStream(), b = NewStream();
    char* const pool = static_cast<char*>(NewMemory(4 * kBytes));
    Must(advstepPoisonMemory(pool, 4 * kBytes));
    auto take = [&](int i) {
        Must(advstepUnpoisonMemory(pool + i * kBytes, kBytes));
        return pool + i * kBytes;
    };
    auto give = [&](int i) { Must(advstepPoisonMemory(pool + i * kBytes, kBytes)); };
    for (int round = 0; round < 3; ++round) {
        void* x = take(0);
        void* y = take(1);
        Fill(x, a);
        LaunchMove(x, y, a);
        const aclrtEvent done = NewCaptureEvent();
        Must(aclrtRecordEvent(done, a));
        Must(aclrtStreamWaitEvent(b, done));
        Consume(y, b);
        Must(aclrtSynchronizeEvent(done));
        give(0);
        Synchronize(b);
        give(1);
        Must(aclrtDestroyEvent(done));
    }
    Must(aclrtFree(pool));
}

RIGHT_PROGRAM(RegistersTheSameBufferAgain) {
    const aclrtStream s = NewStream();
    void* const device = NewMemory(4 * kBytes);
    void* const host = std::aligned_alloc(4096, 4 * kBytes);
    std::memset(host, 1, 4 * kBytes);
    for (size_t pages = 1; pages <= 4; ++pages) {
        void* mapped = nullptr;
        Must(aclrtHostRegister(host, pages * kBytes, ACL_HOST_REGISTER_MAPPED, &mapped));
        CopyToDevice(device, host, s, pages * kBytes);
        CopyToHost(host, device, s, pages * kBytes);
        if (mapped != nullptr) LaunchMove(mapped, device, s, kBytes);
        Synchronize(s);
        Must(aclrtHostUnregister(host));
    }
    std::free(host);
}

RIGHT_PROGRAM(CopiesBetweenPeersBothWays) {
    Must(aclrtDeviceEnablePeerAccess(1, 0));
    void* const here = NewMemory();
    const aclrtStream s0 = NewStream();
    const aclrtEvent e0 = NewCaptureEvent();
    aclrtContext c0 = nullptr;
    Must(aclrtGetCurrentContext(&c0));
    Must(aclrtSetDevice(1));
    Must(aclrtDeviceEnablePeerAccess(0, 0));
    void* const there = NewMemory();
    const aclrtStream s1 = NewStream();
    const aclrtEvent e1 = NewCaptureEvent();
    for (int i = 0; i < 3; ++i) {
        Must(aclrtSetDevice(0));
        Fill(here, s0);
        CopyOnDevice(there, here, s0);
        Must(aclrtRecordEvent(e0, s0));
        Must(aclrtSetDevice(1));
        Must(aclrtStreamWaitEvent(s1, e0));
        Consume(there, s1);
        CopyOnDevice(here, there, s1);
        Must(aclrtRecordEvent(e1, s1));
        Must(aclrtSetDevice(0));
        Must(aclrtStreamWaitEvent(s0, e1));
    }
    Must(aclrtSynchronizeStream(s0));
    GiveBack(here);
    Must(aclrtSetDevice(1));
    Must(aclrtSynchronizeDevice());
    GiveBack(there);
    Must(aclrtResetDevice(1));
}

// Jobs of a pool of threads; a mutex hands each stream over, with its work done.
RIGHT_PROGRAM(SharesStreamsInAThreadPool) {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> jobs;
    bool over = false;
    const aclrtStream streams[2] = {NewStream(), NewStream()};
    void* const m[2] = {NewMemory(), NewMemory()};
    int left = 12;
    std::mutex ofStream[2];
    for (int i = 0; i < 12; ++i)
        jobs.push_back([&, i] {
            const std::lock_guard<std::mutex> lock(ofStream[i % 2]);
            UseRange(m[i % 2], kBytes, streams[i % 2]);
            void* const scratch = NewMemory();
            Fill(scratch, streams[i % 2]);
            Synchronize(streams[i % 2]);
            GiveBack(scratch);
        });
    std::thread pool[3];
    for (auto& t : pool)
        t = std::thread([&] {
            Must(aclrtSetDevice(0));
            for (;;) {
                std::function<void()> job;
                {
                    std::unique_lock<std::mutex> lock(mutex);
                    if (jobs.empty()) return;
                    job = jobs.front();
                    jobs.pop_front();
                }
                job();
                const std::lock_guard<std::mutex> lock(mutex);
                if (--left == 0) over = true, changed.notify_all();
            }
        });
    {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return over; });
    }
    for (auto& t : pool) t.join();
    GiveBack(m[0]);
    GiveBack(m[1]);
}

RIGHT_PROGRAM(HandsABufferOnByAMutex) {
    // threads with a stream each hand a buffer around with host synchronisation only
    std::mutex mutex;
    void* const m = NewMemory();
    std::thread t[3];
    for (auto& x : t)
        x = std::thread([&] {
            Must(aclrtSetDevice(0));
            const aclrtStream s = NewStream();
            for (int i = 0; i < 5; ++i) {
                const std::lock_guard<std::mutex> lock(mutex);
                UseRange(m, kBytes, s);
                Synchronize(s);
            }
            Must(aclrtDestroyStream(s));
        });
    for (auto& x : t) x.join();
    GiveBack(m);
}

// A thread queues copies and hands their events over.
RIGHT_PROGRAM(LoadsInAnotherThread) {
    // a loader thread queues copies, hands the event over by a mutex; compute waits for it on the
    // device
    const aclrtStream copies = NewStream(), compute = NewStream();
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::pair<void*, aclrtEvent>> ready;
    std::thread loader([&] {
        Must(aclrtSetDevice(0));
        for (int i = 0; i < 5; ++i) {
            void* const m = NewUnwrittenMemory();
            CopyToDevice(m, NewPinned(), copies);
            const aclrtEvent e = NewCaptureEvent();
            Must(aclrtRecordEvent(e, copies));
            const std::lock_guard<std::mutex> lock(mutex);
            ready.push_back({m, e});
            changed.notify_one();
        }
    });
    for (int i = 0; i < 5; ++i) {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return !ready.empty(); });
        const auto [m, e] = ready.front();
        ready.pop_front();
        lock.unlock();
        Must(aclrtStreamWaitEvent(compute, e));
        Must(aclrtDestroyEvent(e));
        Consume(m, compute);
        Synchronize(compute);
        GiveBack(m);
    }
    loader.join();
}

RIGHT_PROGRAM(FreesWithASynchronisation) {
    const aclrtStream a = NewStream();
    void* const m = NewMemory();
    void* const p = NewPinned();
    Fill(m, a);
    CopyToHost(p, m, a);
    Must(aclrtFreeWithDevSync(m));
    void* const m2 = NewMemory();
    CopyToDevice(m2, p, a);
    Must(aclrtFreeHostWithDevSync(p));
    Synchronize(a);
}

RIGHT_PROGRAM(FreesAfterTheWaitOfAnotherStream) {
    const aclrtStream a = NewStream(), b = NewStream();
    void* const m = NewMemory();
    aclrtEvent e = nullptr;
    Must(aclrtCreateEventWithFlag(&e, ACL_EVENT_SYNC));
    Fill(m, a);
    Must(aclrtRecordEvent(e, a));
    Must(aclrtStreamWaitEvent(b, e));
    aclrtEventWaitStatus st = ACL_EVENT_WAIT_STATUS_NOT_READY;
    while (st != ACL_EVENT_WAIT_STATUS_COMPLETE) Must(aclrtQueryEventWaitStatus(e, &st));
    GiveBack(m);
}

RIGHT_PROGRAM(FreesWhenATimeIsKnown) {
    const aclrtStream a = NewStream();
    void* const m = NewMemory();
    const aclrtEvent b = NewEvent(), e = NewEvent();
    Must(aclrtRecordEvent(b, a));
    Fill(m, a);
    Must(aclrtRecordEvent(e, a));
    float ms = 0;
    while (aclrtEventElapsedTime(&ms, b, e) != ACL_SUCCESS) {
    }
    GiveBack(m);
}

RIGHT_PROGRAM(FreesInAThreadThatAFlagWakes) {
    const aclrtStream a = NewStream();
    static Flag flag;
    void* const m = NewMemory();
    Fill(m, a);
    Must(aclrtLaunchHostFunc(
        a,
        [](void*) {
            {
                const std::lock_guard<std::mutex> l(flag.mutex);
                flag.isSet = true;
            }
            flag.changed.notify_all();
        },
        nullptr));
    std::thread([&] {
        Must(aclrtSetDevice(0));
        std::unique_lock<std::mutex> l(flag.mutex);
        flag.changed.wait(l, [] { return flag.isSet; });
        GiveBack(m);
    }).join();
}

RIGHT_PROGRAM(FreesInAHostFunctionAfterAnEvent) {
    const aclrtStream a = NewStream(), b = NewStream();
    void* const m = NewMemory();
    Fill(m, a);
    Order(a, b);
    Must(aclrtLaunchHostFunc(b, &GiveBack, m));
    Synchronize(b);
}

RIGHT_PROGRAM(FreesWhatAnUpdateHasReplaced) {
    const aclrtStream s = NewStream(), up = NewStream(), other = NewStream();
    void* const in = NewMemory();
    void* const old = NewMemory();
    void* const next = NewMemory();
    Must(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    Must(aclmdlRICaptureTaskGrpBegin(s));
    LaunchMove(in, old, s);
    aclrtTaskGrp g = nullptr;
    Must(aclmdlRICaptureTaskGrpEnd(s, &g));
    aclmdlRI m = nullptr;
    Must(aclmdlRICaptureEnd(s, &m));
    Must(aclmdlRIExecuteAsync(m, s));
    Synchronize(s);
    Must(aclmdlRICaptureTaskUpdateBegin(up, g));
    LaunchMove(in, next, up);
    Must(aclmdlRICaptureTaskUpdateEnd(up));
    Must(aclmdlRIExecuteAsync(m, s));
    Fill(old, other);
    Must(aclrtSynchronizeStream(other));
    GiveBack(old);
    Must(aclmdlRIExecuteAsync(m, s));
    Synchronize(s);
    ReadBack(next, kBytes);
}

RIGHT_PROGRAM(ReadsTheOverflowStatus) {
    const aclrtStream s = NewStream();
    void* const st = NewUnwrittenMemory(64);
    Must(aclrtResetOverflowStatus(s));
    Must(aclrtGetOverflowStatus(st, 64, s));
    Synchronize(s);
    ReadBack(st, 64);
}

RIGHT_PROGRAM(PrefetchesBesideAWriter) {
    const aclrtStream a = NewStream(), b = NewStream();
    void* const m = NewUnwrittenMemory();
    Must(aclrtCmoAsync(m, kBytes, ACL_RT_CMO_TYPE_PREFETCH, b));
    Fill(m, a);
    Must(aclrtSynchronizeDevice());
}

RIGHT_PROGRAM(DestroysTheStreamOfARecord) {
    void* const m = NewMemory();
    const aclrtStream b = NewStream();
    const aclrtEvent e = NewCaptureEvent();
    for (int i = 0; i < 3; ++i) {
        const aclrtStream a = NewStream();
        Produce(m, a);
        Must(aclrtRecordEvent(e, a));
        Must(aclrtDestroyStream(a));
        Must(aclrtStreamWaitEvent(b, e));
        Consume(m, b);
        Synchronize(b);
    }
}

RIGHT_PROGRAM(ResetsAnEventInTurn) {
    const aclrtStream a = NewStream(), b = NewStream();
    void* const m = NewMemory();
    aclrtEvent e = nullptr;
    Must(aclrtCreateEvent(&e));
    for (int i = 0; i < 4; ++i) {
        Produce(m, a);
        Must(aclrtRecordEvent(e, a));
        Must(aclrtStreamWaitEvent(b, e));
        Must(aclrtResetEvent(e, b));
        Consume(m, b);
        Order(b, a);
    }
    Must(aclrtSynchronizeDevice());
    Must(aclrtDestroyEvent(e));
}

RIGHT_PROGRAM(FansOutAndIn) {
    const aclrtStream main = NewStream();
    std::vector<aclrtStream> s;
    std::vector<void*> m;
    void* const in = NewMemory();
    for (int i = 0; i < 8; ++i) {
        s.push_back(NewStream());
        m.push_back(NewMemory());
    }
    for (int round = 0; round < 4; ++round) {
        Fill(in, main);
        const aclrtEvent start = NewCaptureEvent();
        Must(aclrtRecordEvent(start, main));
        for (int i = 0; i < 8; ++i) {
            Must(aclrtStreamWaitEvent(s[i], start));
            CopyOnDevice(m[i], in, s[i]);
            const aclrtEvent e = NewCaptureEvent();
            Must(aclrtRecordEvent(e, s[i]));
            Must(aclrtStreamWaitEvent(main, e));
            Must(aclrtDestroyEvent(e));
        }
        Must(aclrtDestroyEvent(start));
        for (int i = 0; i < 8; ++i) Consume(m[i], main);
    }
    Synchronize(main);
    for (void* x : m) GiveBack(x);
}

RIGHT_PROGRAM(PollsInAnotherThread) {
    const aclrtStream a = NewStream();
    void* const m = NewMemory();
    Fill(m, a);
    std::thread([&] {
        Must(aclrtSetDevice(0));
        aclrtStreamStatus st = ACL_STREAM_STATUS_NOT_READY;
        while (st != ACL_STREAM_STATUS_COMPLETE) Must(aclrtStreamQuery(a, &st));
    }).join();
    GiveBack(m);
}

RIGHT_PROGRAM(ReadsResultsInCallbacks) {
    const aclrtStream s = NewStream();
    void* const m = NewMemory();
    std::promise<uint64_t> id;
    std::promise<void> go;
    std::thread runner([&] {
        Must(aclrtSetDevice(0));
        id.set_value(static_cast<uint64_t>(pthread_self()));
        go.get_future().wait();
        for (int i = 0; i < 3; ++i) Must(aclrtProcessReport(-1));
    });
    const uint64_t thread = id.get_future().get();
    Must(aclrtSubscribeReport(thread, s));
    go.set_value();
    for (int i = 0; i < 3; ++i) {
        Fill(m, s);
        Must(aclrtLaunchCallback([](void* x) { ReadBack(x, kBytes); }, m, ACL_CALLBACK_BLOCK, s));
    }
    Synchronize(s);
    runner.join();
    Must(aclrtUnSubscribeReport(thread, s));
    GiveBack(m);
}

RIGHT_PROGRAM(FreesInCallbacksOfAThread) {
    // NO_BLOCK callback frees, later work uses other memory
    const aclrtStream s = NewStream();
    std::promise<uint64_t> id;
    std::promise<void> go;
    std::thread runner([&] {
        Must(aclrtSetDevice(0));
        id.set_value(static_cast<uint64_t>(pthread_self()));
        go.get_future().wait();
        for (int i = 0; i < 4; ++i) Must(aclrtProcessReport(-1));
    });
    const uint64_t thread = id.get_future().get();
    Must(aclrtSubscribeReport(thread, s));
    go.set_value();
    for (int i = 0; i < 4; ++i) {
        void* const m = NewMemory();
        Fill(m, s);
        Must(aclrtLaunchCallback(&GiveBack, m, ACL_CALLBACK_NO_BLOCK, s));
    }
    Synchronize(s);
    runner.join();
    Must(aclrtUnSubscribeReport(thread, s));
}

// The first wait of each stream is for an event without a record.
RIGHT_PROGRAM(WaitsBeforeTheFirstRecord) {
    const aclrtStream a = NewStream(), b = NewStream();
    const aclrtEvent free_ = NewCaptureEvent(), full = NewCaptureEvent();
    void* const m = NewMemory();
    for (int i = 0; i < 3; ++i) {
        Must(aclrtStreamWaitEvent(a, free_));
        Produce(m, a);
        Must(aclrtRecordEvent(full, a));
        Must(aclrtStreamWaitEvent(b, full));
        Consume(m, b);
        Must(aclrtRecordEvent(free_, b));
    }
    Must(aclrtSynchronizeDevice());
}

RIGHT_PROGRAM(MapsABlockElsewhere) {
    constexpr size_t kM = size_t{2} << 20;
    const aclrtStream s = NewStream();
    void* address = nullptr;
    Must(aclrtReserveMemAddress(&address, 2 * kM, 0, nullptr, 0));
    aclrtPhysicalMemProp p{};
    p.memAttr = ACL_HBM_MEM_HUGE;
    p.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    aclrtDrvMemHandle h = nullptr;
    Must(aclrtMallocPhysical(&h, kM, &p, 0));
    for (int i = 0; i < 4; ++i) {
        char* const at = static_cast<char*>(address) + (i % 2) * kM;
        Must(aclrtMapMem(at, kM, 0, h, 0));
        UseRange(at, kM, s);
        Synchronize(s);
        Must(aclrtUnmapMem(at));
    }
    Must(aclrtFreePhysical(h));
    Must(aclrtReleaseMemAddress(address));
}

RIGHT_PROGRAM(UsesTwoMappingsAsOne) {
    constexpr size_t kM = size_t{2} << 20;
    const aclrtStream s = NewStream();
    void* address = nullptr;
    Must(aclrtReserveMemAddress(&address, 2 * kM, 0, nullptr, 0));
    aclrtPhysicalMemProp p{};
    p.memAttr = ACL_HBM_MEM_HUGE;
    p.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    for (int i = 0; i < 2; ++i) {
        aclrtDrvMemHandle h = nullptr;
        Must(aclrtMallocPhysical(&h, kM, &p, 0));
        Must(aclrtMapMem(static_cast<char*>(address) + i * kM, kM, 0, h, 0));
    }
    UseRange(address, 2 * kM, s);
    Synchronize(s);
}

RIGHT_PROGRAM(CopiesChunksInTwoStreams) {
    const aclrtStream s[2] = {NewStream(), NewStream()};
    char* const m = static_cast<char*>(NewUnwrittenMemory(16 * kBytes));
    char* const p = static_cast<char*>(NewPinned(16 * kBytes));
    for (int i = 0; i < 16; ++i) CopyToDevice(m + i * kBytes, p + i * kBytes, s[i % 2]);
    Order(s[1], s[0]);
    LaunchMove(m, NewMemory(16 * kBytes), s[0], 16 * kBytes);
    Synchronize(s[0]);
}

RIGHT_PROGRAM(AllocatesAndFreesInALoop) {
    const aclrtStream s = NewStream();
    for (int i = 0; i < 100; ++i) {
        void* const m = NewUnwrittenMemory(kBytes * (1 + i % 3));
        Fill(m, s);
        Synchronize(s);
        GiveBack(m);
    }
}

}  // namespace corpus
