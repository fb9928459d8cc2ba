// SPDX-License-Identifier: Apache-2.0
// The stream machine under churn, without a model: many threads on shared streams, waits across
// streams, objects that come and go with work pending, captures, limits and aborts. No legal call
// may hang, and every call must answer with a code that the state of things permits.
//
// Nothing here waits in a circle: a host function only waits for streams of a higher rank than its
// own, and work of the highest rank waits for nobody.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <initializer_list>
#include <random>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/sanitizers.h"

namespace {

using support::IsOk;

constexpr int kChurnRounds = support::kThreadSanitizer ? 1500 : 4000;
constexpr int kChurnThreads = 6;
constexpr int kShared = 8;  // streams, in the order of their rank

// Codes that a call may give because another thread was faster.
using Codes = std::initializer_list<int>;

class ChurnStressTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        support::DeviceTest::SetUp();
        ASSERT_TRUE(IsOk(aclrtCreateContext(&context_, 0)));
        seed_ = std::random_device{}();
        std::printf("seed %u\n", seed_);
        for (std::atomic<aclrtStream>& stream : streams_) {
            aclrtStream made = nullptr;
            ASSERT_TRUE(IsOk(aclrtCreateStream(&made)));
            stream = made;
        }
    }

    // The shared streams end, and with them all that is queued.
    void TearDown() override {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context_)));
        for (const std::atomic<aclrtStream>& stream : streams_) {
            EXPECT_TRUE(IsOk(aclrtDestroyStream(stream)));
        }
        EXPECT_EQ(queued_.load(), ran_.load());
        EXPECT_TRUE(IsOk(aclrtDestroyContext(context_)));
    }

    template <typename Body>
    void OnThreads(Body body) {
        std::vector<std::thread> threads;
        for (int index = 0; index < kChurnThreads; ++index) {
            threads.emplace_back([&, index] {
                ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context_)));
                std::mt19937 random(seed_ + static_cast<unsigned>(index));
                for (int round = 0; round < kChurnRounds && !HasFailure(); ++round) {
                    body(random);
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

    static void Check(int code, Codes permitted, const char* call) {
        for (const int one : permitted) {
            if (code == one) {
                return;
            }
        }
        ADD_FAILURE() << call << " returned " << code << ": " << support::TakeMessage();
    }

    // A host function that waits for a stream of higher rank, or for nothing.
    void Launch(aclrtStream stream, int rank, unsigned choice, Codes permitted) {
        const bool waits = choice % 8 == 0 && rank + 1 < kShared;
        std::atomic<aclrtStream>* const other =
            waits ? &streams_[static_cast<size_t>(rank) + 1 +
                              choice / 8 % static_cast<unsigned>(kShared - rank - 1)]
                  : nullptr;
        const int code = support::Enqueue(stream, [this, other] {
            if (other != nullptr) {
                Check(aclrtSynchronizeStream(*other),
                      {0, ACL_ERROR_RT_INVALID_HANDLE, ACL_ERROR_RT_STREAM_ABORT,
                       ACL_ERROR_RT_STREAM_CAPTURED},
                      "aclrtSynchronizeStream in a host function");
            }
            ran_.fetch_add(1);
        });
        queued_.fetch_add(code == 0 ? 1 : 0);
        Check(code, permitted, "aclrtLaunchHostFunc");
    }

    // Memory that goes while the work that uses it is queued.
    static void Fill(aclrtStream stream, Codes permitted) {
        void* memory = nullptr;
        ASSERT_TRUE(IsOk(aclrtMalloc(&memory, 256, ACL_MEM_MALLOC_HUGE_FIRST)));
        Check(aclrtMemsetAsync(memory, 256, 1, 256, stream), permitted, "aclrtMemsetAsync");
        Check(aclrtFree(memory), {0}, "aclrtFree");
    }

    std::atomic<aclrtStream>& Stream(unsigned rank) { return streams_[rank % kShared]; }

    unsigned seed_ = 0;
    aclrtContext context_ = nullptr;
    std::array<std::atomic<aclrtStream>, kShared> streams_{};
    std::atomic<int64_t> queued_{0};
    std::atomic<int64_t> ran_{0};
};

// Waits go from lower to higher rank only: the waiting stream is the lower one, so a host function
// of the higher one never waits for it.
TEST_F(ChurnStressTest, SharedStreamsThatComeAndGo) {
    const Codes gone = {0, ACL_ERROR_RT_INVALID_HANDLE};
    OnThreads([&](std::mt19937& random) {
        const unsigned rank = random() % kShared;
        const unsigned higher = rank + random() % (kShared - rank);
        const aclrtStream stream = Stream(rank);
        switch (random() % 16) {
            case 0: {  // destroys it and puts another in its place, with work pending
                aclrtStream fresh = nullptr;
                ASSERT_TRUE(IsOk(aclrtCreateStream(&fresh)));
                Check(aclrtDestroyStream(Stream(rank).exchange(fresh)), {0}, "aclrtDestroyStream");
                break;
            }
            case 1:
                Check(aclrtSynchronizeStream(stream), gone, "aclrtSynchronizeStream");
                break;
            case 2:
                Check(aclrtSynchronizeStreamWithTimeout(stream, 1 + static_cast<int>(random() % 3)),
                      {0, ACL_ERROR_RT_INVALID_HANDLE, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT},
                      "aclrtSynchronizeStreamWithTimeout");
                break;
            case 3: {
                aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
                Check(aclrtStreamQuery(stream, &status), gone, "aclrtStreamQuery");
                break;
            }
            case 4:
            case 5:
            case 6: {
                aclrtEvent event = nullptr;
                ASSERT_TRUE(IsOk(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC)));
                Check(aclrtRecordEvent(event, Stream(higher)), gone, "aclrtRecordEvent");
                Check(aclrtStreamWaitEvent(stream, event), gone, "aclrtStreamWaitEvent");
                if (random() % 2 == 0) {
                    Check(aclrtSynchronizeEvent(event), {0}, "aclrtSynchronizeEvent");
                }
                Check(aclrtDestroyEvent(event), {0}, "aclrtDestroyEvent");
                break;
            }
            case 7: {  // the record comes first, so the wait ends
                aclrtNotify notify = nullptr;
                ASSERT_TRUE(IsOk(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT)));
                if (aclrtRecordNotify(notify, Stream(higher)) == 0) {
                    Check(aclrtWaitAndResetNotify(notify, stream, 0), gone,
                          "aclrtWaitAndResetNotify");
                }
                Check(aclrtDestroyNotify(notify), {0}, "aclrtDestroyNotify");
                break;
            }
            case 8:
                Fill(stream, gone);
                break;
            case 9:
                if (random() % 16 == 0) {
                    Check(aclrtSynchronizeDevice(), {0}, "aclrtSynchronizeDevice");
                }
                break;
            default:
                Launch(stream, static_cast<int>(rank), random(), gone);
        }
    });
}

// Work is dropped here, so no host function is among it: nobody could tell how many have run.
TEST_F(ChurnStressTest, AbortsAndForcedEndsLetEverybodyGo) {
    const Codes gone = {0, ACL_ERROR_RT_INVALID_HANDLE};
    const Codes aborted = {0, ACL_ERROR_RT_INVALID_HANDLE, ACL_ERROR_RT_STREAM_ABORT,
                           ACL_ERROR_RT_STREAM_SYNC_TIMEOUT};
    OnThreads([&](std::mt19937& random) {
        const unsigned rank = random() % kShared;
        const aclrtStream stream = Stream(rank);
        switch (random() % 8) {
            case 0: {
                aclrtStream fresh = nullptr;
                ASSERT_TRUE(IsOk(aclrtCreateStream(&fresh)));
                Check(aclrtDestroyStreamForce(Stream(rank).exchange(fresh)), {0},
                      "aclrtDestroyStreamForce");
                break;
            }
            case 1:
                Check(aclrtStreamAbort(stream), gone, "aclrtStreamAbort");
                break;
            case 2:
                Check(aclrtSynchronizeStream(stream), aborted, "aclrtSynchronizeStream");
                break;
            case 3: {  // a wait that only an abort or its record ends; the record comes at once
                aclrtNotify notify = nullptr;
                ASSERT_TRUE(IsOk(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT)));
                aclrtStream own = nullptr;
                ASSERT_TRUE(IsOk(aclrtCreateStream(&own)));
                aclrtEvent event = nullptr;
                ASSERT_TRUE(IsOk(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC)));
                Check(aclrtWaitAndResetNotify(notify, own, 0), {0}, "aclrtWaitAndResetNotify");
                Check(aclrtRecordEvent(event, own), {0}, "aclrtRecordEvent");
                Check(aclrtStreamWaitEvent(stream, event), gone, "aclrtStreamWaitEvent");
                Check(random() % 2 == 0 ? aclrtDestroyStreamForce(own) : aclrtStreamAbort(own), {0},
                      "end of a wait that nothing else ends");
                Check(aclrtSynchronizeEvent(event), {0}, "aclrtSynchronizeEvent");
                (void)aclrtDestroyStream(own);
                Check(aclrtDestroyEvent(event), {0}, "aclrtDestroyEvent");
                Check(aclrtDestroyNotify(notify), {0}, "aclrtDestroyNotify");
                break;
            }
            case 4:
                Check(aclrtSynchronizeStreamWithTimeout(stream, 1), aborted,
                      "aclrtSynchronizeStreamWithTimeout");
                break;
            default: {
                aclrtEvent event = nullptr;
                ASSERT_TRUE(IsOk(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC)));
                Check(aclrtRecordEvent(event, Stream(random())), gone, "aclrtRecordEvent");
                Fill(stream, gone);
                Check(aclrtStreamWaitEvent(stream, event), gone, "aclrtStreamWaitEvent");
                Check(aclrtDestroyEvent(event), {0}, "aclrtDestroyEvent");
            }
        }
    });
}

// Captures in some threads, on streams of their own that others may try to use.
TEST_F(ChurnStressTest, CapturesBesideOtherWork) {
    const Codes used = {0, ACL_ERROR_RT_INVALID_HANDLE, ACL_ERROR_RT_STREAM_CAPTURED,
                        ACL_ERROR_RT_CAPTURE_DEPENDENCY, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT};
    OnThreads([&](std::mt19937& random) {
        const unsigned rank = random() % kShared;
        if (random() % 4 == 0) {
            aclrtStream own = nullptr;
            aclmdlRI model = nullptr;
            void* memory = nullptr;
            ASSERT_TRUE(IsOk(aclrtMalloc(&memory, 256, ACL_MEM_MALLOC_HUGE_FIRST)));
            ASSERT_TRUE(IsOk(aclrtCreateStream(&own)));
            const auto mode = static_cast<aclmdlRICaptureMode>(random() % 3);
            Check(aclmdlRICaptureBegin(own, mode), {0}, "aclmdlRICaptureBegin");
            for (unsigned count = random() % 4; count > 0; --count) {
                Check(aclrtMemsetAsync(memory, 256, 1, 256, own), {0}, "aclrtMemsetAsync");
            }
            Check(aclmdlRICaptureEnd(own, &model), {0}, "aclmdlRICaptureEnd");
            Check(aclmdlRIExecuteAsync(model, own), {0}, "aclmdlRIExecuteAsync");
            Check(aclrtSynchronizeStream(own), {0}, "aclrtSynchronizeStream");
            Check(aclmdlRIDestroy(model), {0}, "aclmdlRIDestroy");
            Check(aclrtFree(memory), {0}, "aclrtFree");
            Check(aclrtDestroyStream(own), {0}, "aclrtDestroyStream");
            return;
        }
        const aclrtStream stream = Stream(rank);
        switch (random() % 4) {
            case 0:
                Check(aclrtSynchronizeStream(stream), used, "aclrtSynchronizeStream");
                break;
            case 1:
                Check(aclrtSynchronizeDevice(), {0, ACL_ERROR_RT_STREAM_CAPTURED},
                      "aclrtSynchronizeDevice");
                break;
            case 2: {
                aclrtStream fresh = nullptr;
                ASSERT_TRUE(IsOk(aclrtCreateStream(&fresh)));
                Check(aclrtDestroyStream(Stream(rank).exchange(fresh)), {0}, "aclrtDestroyStream");
                break;
            }
            default:
                Launch(stream, static_cast<int>(rank), random(), used);
        }
    });
}

}  // namespace
