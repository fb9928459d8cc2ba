// SPDX-License-Identifier: Apache-2.0
// Random legal programs on many streams from many threads: order within a stream, event waits
// across streams, destruction and re-creation with work pending, and progress that nobody asked
// for.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace {

constexpr auto kHang = std::chrono::seconds(120);

class StreamStressTest : public testing::Test {
 protected:
    void SetUp() override {
        ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
        ASSERT_EQ(aclrtCreateContext(&context_, 0), ACL_SUCCESS);
    }
    void TearDown() override { EXPECT_EQ(aclFinalize(), ACL_SUCCESS); }

    // Runs body(thread index) on that many threads with the context current.
    template <typename Body>
    void OnThreads(int count, Body body) {
        std::vector<std::thread> threads;
        for (int index = 0; index < count; ++index) {
            threads.emplace_back([&, index] {
                ASSERT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS);
                body(index);
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

    aclrtContext context_ = nullptr;
};

// A stream and what its host functions saw.
struct Lane {
    aclrtStream stream = nullptr;
    const std::thread::id owner = std::this_thread::get_id();
    std::atomic<int64_t>* elsewhere = nullptr;  // counts those that another thread ran
    int64_t issued = 0;
    std::atomic<int64_t> done{
        0};  // its host functions run in order: each expects the number before
    std::atomic<int64_t> disorder{0};
};

struct Step {
    Lane* lane;
    int64_t number;
};

void RunStep(void* args) {
    const std::unique_ptr<Step> step(static_cast<Step*>(args));
    int64_t expected = step->number;
    if (step->lane->elsewhere != nullptr && std::this_thread::get_id() != step->lane->owner) {
        step->lane->elsewhere->fetch_add(1);
    }
    if (!step->lane->done.compare_exchange_strong(expected, step->number + 1)) {
        step->lane->disorder.fetch_add(1);
    }
}

void EnqueueStep(Lane* lane) {
    ASSERT_EQ(aclrtLaunchHostFunc(lane->stream, &RunStep, new Step{lane, lane->issued++}),
              ACL_SUCCESS);
}

// The waiting stream must find the other one at least as far as when it was recorded.
struct Expectation {
    Lane* other;
    int64_t atLeast;
    std::atomic<int64_t>* broken;
};

void CheckExpectation(void* args) {
    const std::unique_ptr<Expectation> expectation(static_cast<Expectation*>(args));
    if (expectation->other->done.load() < expectation->atLeast) {
        expectation->broken->fetch_add(1);
    }
}

TEST_F(StreamStressTest, RandomProgramsKeepOrderAndWaits) {
    constexpr int kThreads = 4;
    constexpr int kLanesPerThread = 4;
    constexpr int kOperations = 3000;
    // Each thread goes on until so many of its host functions have met another thread, and begins
    // when all have come.
    constexpr int64_t kElsewhere = 500;
    const auto seed = static_cast<uint32_t>(std::random_device{}());
    std::printf("seed %u\n", seed);
    std::atomic<int64_t> broken{0};
    std::atomic<int> here{0};
    const auto begin = std::chrono::steady_clock::now();
    OnThreads(kThreads, [&](int thread) {
        std::mt19937 random(seed + static_cast<uint32_t>(thread));
        std::atomic<int64_t> elsewhere{0};
        std::vector<Lane> lanes(kLanesPerThread);
        here.fetch_add(1);
        while (here.load() < kThreads) {
            std::this_thread::yield();
        }
        for (Lane& lane : lanes) {
            lane.elsewhere = &elsewhere;
            ASSERT_EQ(aclrtCreateStream(&lane.stream), ACL_SUCCESS);
        }
        aclrtEvent event = nullptr;
        ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
        for (int operation = 0; operation < kOperations || elsewhere.load() < kElsewhere;
             ++operation) {
            ASSERT_LT(std::chrono::steady_clock::now() - begin, kHang)
                << "only " << elsewhere.load() << " host functions have met another thread";
            Lane& lane = lanes[random() % kLanesPerThread];
            Lane& other = lanes[random() % kLanesPerThread];
            switch (random() % 16) {
                case 0:
                    ASSERT_EQ(aclrtSynchronizeStream(lane.stream), ACL_SUCCESS);
                    ASSERT_EQ(lane.done.load(), lane.issued);
                    break;
                case 1: {
                    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
                    ASSERT_EQ(aclrtStreamQuery(lane.stream, &status), ACL_SUCCESS);
                    break;
                }
                case 2:  // with work pending: waits for it
                    ASSERT_EQ(aclrtDestroyStream(lane.stream), ACL_SUCCESS);
                    ASSERT_EQ(lane.done.load(), lane.issued);
                    ASSERT_EQ(aclrtCreateStream(&lane.stream), ACL_SUCCESS);
                    break;
                case 3:
                    ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
                    ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
                    break;
                case 4:
                case 5:
                case 6:
                    ASSERT_EQ(aclrtRecordEvent(event, other.stream), ACL_SUCCESS);
                    ASSERT_EQ(aclrtStreamWaitEvent(lane.stream, event), ACL_SUCCESS);
                    ASSERT_EQ(aclrtLaunchHostFunc(lane.stream, &CheckExpectation,
                                                  new Expectation{&other, other.issued, &broken}),
                              ACL_SUCCESS);
                    break;
                case 7:
                    ASSERT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
                    break;
                default:
                    EnqueueStep(&lane);
                    break;
            }
        }
        for (Lane& lane : lanes) {
            ASSERT_EQ(aclrtDestroyStream(lane.stream), ACL_SUCCESS);
            EXPECT_EQ(lane.done.load(), lane.issued);
            EXPECT_EQ(lane.disorder.load(), 0);
        }
        ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    });
    EXPECT_EQ(broken.load(), 0);
}

// Two host functions that need each other at the same time.
class Meeting {
 public:
    static void Join(void* self) { static_cast<Meeting*>(self)->JoinOne(); }

    bool WaitUntilOver() {
        std::unique_lock<std::mutex> lock(mutex_);
        return changed_.wait_for(lock, kHang, [&] { return present_ == 2; });
    }

 private:
    void JoinOne() {
        std::unique_lock<std::mutex> lock(mutex_);
        ++present_;
        changed_.notify_all();
        changed_.wait_for(lock, kHang, [&] { return present_ == 2; });
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    int present_ = 0;
};

TEST_F(StreamStressTest, BlockedHostFunctionsOfManyStreamsProgressWithoutSynchronisation) {
    constexpr int kStreams = 8;
    constexpr int kRounds = 60;
    const auto seed = static_cast<uint32_t>(std::random_device{}());
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    std::vector<aclrtStream> streams(kStreams);
    for (aclrtStream& stream : streams) {
        ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    }
    std::vector<std::unique_ptr<Meeting>> meetings;
    for (int round = 0; round < kRounds; ++round) {
        // Every meeting is queued on both streams before the next: legal in any interleaving.
        const size_t first = random() % kStreams;
        const size_t second = (first + 1 + random() % (kStreams - 1)) % kStreams;
        meetings.push_back(std::make_unique<Meeting>());
        for (const size_t index : {first, second}) {
            ASSERT_EQ(aclrtLaunchHostFunc(streams[index], &Meeting::Join, meetings.back().get()),
                      ACL_SUCCESS);
        }
    }
    for (const std::unique_ptr<Meeting>& meeting : meetings) {
        ASSERT_TRUE(meeting->WaitUntilOver());
    }
    for (const aclrtStream stream : streams) {
        ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    }
}

TEST_F(StreamStressTest, ALongChainOfWaitsAcrossTwoStreamsEndsBySynchronisingEither) {
    constexpr int kLinks = 20000;
    aclrtStream streams[2] = {};
    aclrtEvent event = nullptr;
    ASSERT_EQ(aclrtCreateStream(&streams[0]), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&streams[1]), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
    Lane lane;
    for (int link = 0; link < kLinks; ++link) {
        lane.stream = streams[link % 2];
        EnqueueStep(&lane);
        ASSERT_EQ(aclrtRecordEvent(event, streams[link % 2]), ACL_SUCCESS);
        ASSERT_EQ(aclrtStreamWaitEvent(streams[(link + 1) % 2], event), ACL_SUCCESS);
    }
    ASSERT_EQ(aclrtSynchronizeStream(streams[0]), ACL_SUCCESS);
    EXPECT_EQ(lane.done.load(), kLinks);
    EXPECT_EQ(lane.disorder.load(), 0);
}

TEST_F(StreamStressTest, ManyContextsAndStreamsComeAndGo) {
    OnThreads(4, [](int) {
        for (int round = 0; round < 500; ++round) {
            aclrtContext context = nullptr;
            ASSERT_EQ(aclrtCreateContext(&context, round % 2), ACL_SUCCESS);
            Lane lane;
            ASSERT_EQ(aclrtCreateStream(&lane.stream), ACL_SUCCESS);
            EnqueueStep(&lane);
            lane.stream = nullptr;
            const aclrtStream defaultStream = nullptr;
            ASSERT_EQ(aclrtLaunchHostFunc(
                          defaultStream, [](void*) {}, nullptr),
                      ACL_SUCCESS);
            ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
            ASSERT_EQ(lane.done.load(), 1);
        }
    });
}

}  // namespace
