// SPDX-License-Identifier: Apache-2.0
// Threads that share a context and hand work on to each other, ordered by events.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using support::IsOk;

// Words travel from thread to thread with an event each: every thread has a stream of its own, adds
// to the word there, and hands it on. What is in a word at the end shows the order of all that.
class HandOverStressTest : public support::DeviceTest {};

TEST_F(HandOverStressTest, WordsTravelFromThreadToThread) {
    constexpr int kThreads = 6;
    constexpr int kWords = 12;
    constexpr int kHops = 400;
    constexpr int kMeetings = 100;  // of each word
    // A word is handed on until threads have met over it so often: one takes it whose change by
    // another thread is still to come. So the test is not over before the threads are under way.
    struct Word {
        uint64_t* address = nullptr;
        uint64_t expected = 0;
        aclrtEvent event = nullptr;  // of the latest change
        int owner = -1;              // the thread that made it
        int hops = 0;
        int meetings = 0;
    };
    const support::PinnedArray<uint64_t> words(kWords);
    const aclrtContext context = support::CurrentContext();
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    std::mutex mutex;
    std::vector<Word> waiting;
    for (int index = 0; index < kWords; ++index) {
        Word word;
        word.address = words.Get() + index;
        ASSERT_TRUE(IsOk(aclrtCreateEventExWithFlag(&word.event, ACL_EVENT_SYNC)));
        waiting.push_back(word);
    }
    std::atomic<int> finished{0};
    std::vector<std::thread> threads;
    for (int index = 0; index < kThreads; ++index) {
        threads.emplace_back([&, index] {
            ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            std::mt19937 random(seed + static_cast<unsigned>(index));
            aclrtStream own = nullptr;
            ASSERT_TRUE(IsOk(aclrtCreateStream(&own)));
            while (finished.load() < kWords && !HasFailure()) {
                Word word;
                {
                    const std::lock_guard<std::mutex> lock(mutex);
                    if (!waiting.empty()) {
                        std::swap(waiting[random() % waiting.size()], waiting.back());
                        word = waiting.back();
                        waiting.pop_back();
                    }
                }
                if (word.address == nullptr) {
                    std::this_thread::yield();
                    continue;
                }
                if (word.owner >= 0 && word.owner != index) {
                    auto status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
                    ASSERT_TRUE(IsOk(aclrtQueryEventStatus(word.event, &status)));
                    word.meetings += status == ACL_EVENT_RECORDED_STATUS_NOT_READY ? 1 : 0;
                }
                word.owner = index;
                const uint64_t id = random();
                ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(own, word.event)));
                ASSERT_TRUE(IsOk(support::Enqueue(
                    own, [address = word.address, id] { *address = *address * 31 + id; })));
                ASSERT_TRUE(IsOk(aclrtRecordEvent(word.event, own)));
                word.expected = word.expected * 31 + id;
                if (random() % 16 == 0) {
                    ASSERT_TRUE(IsOk(aclrtSynchronizeEvent(word.event)));
                    ASSERT_EQ(*word.address, word.expected);
                }
                if (random() % 16 == 0) {  // its events and its place in others' waits stay good
                    ASSERT_TRUE(IsOk(aclrtDestroyStream(own)));
                    ASSERT_TRUE(IsOk(aclrtCreateStream(&own)));
                }
                const std::lock_guard<std::mutex> lock(mutex);
                if (++word.hops < kHops || word.meetings < kMeetings) {
                    waiting.push_back(word);
                    continue;
                }
                finished.fetch_add(1);
                ASSERT_TRUE(IsOk(aclrtSynchronizeEvent(word.event)));
                EXPECT_EQ(*word.address, word.expected);
                ASSERT_TRUE(IsOk(aclrtDestroyEvent(word.event)));
            }
            ASSERT_TRUE(IsOk(aclrtDestroyStream(own)));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace
