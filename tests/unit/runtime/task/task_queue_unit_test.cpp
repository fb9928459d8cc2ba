// SPDX-License-Identifier: Apache-2.0
// Tests of task queues: order, alignment, segments, reservation.

#include "src/runtime/task/task_queue.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <new>
#include <random>
#include <vector>

#include "support/sanitizers.h"

namespace {

thread_local uint64_t alignedAllocations = 0;  // of the calling thread; the segments are among them

}  // namespace

// Clang's thread sanitizer has an operator new of its own, which a program cannot replace.
#if !ADVANCE_STEP_THREAD_SANITIZER
void* operator new(size_t bytes, std::align_val_t alignment) {
    ++alignedAllocations;
    const auto unit = static_cast<size_t>(alignment);
    void* const memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace advstep {
namespace {

struct QueuedTask : Task {
    int64_t number;
};

constexpr size_t kSmall =
    (sizeof(QueuedTask) + kTaskAlignment - 1) / kTaskAlignment * kTaskAlignment;

Task* Push(TaskQueue* queue, int64_t number, size_t bytes = kSmall) {
    auto* const task = new (queue->Push(bytes)) QueuedTask;
    task->bytes = static_cast<uint32_t>(bytes);
    task->number = number;
    return task;
}

int64_t FrontNumber(const TaskQueue& queue) {
    return static_cast<const QueuedTask*>(queue.Front())->number;
}

TEST(TaskQueueTest, StartsEmpty) { EXPECT_TRUE(TaskQueue().Empty()); }

TEST(TaskQueueTest, IsFirstInFirstOut) {
    TaskQueue queue;
    for (int64_t number = 0; number < 3; ++number) {
        Push(&queue, number);
    }
    for (int64_t number = 0; number < 3; ++number) {
        ASSERT_FALSE(queue.Empty());
        EXPECT_EQ(FrontNumber(queue), number);
        queue.PopFront();
    }
    EXPECT_TRUE(queue.Empty());
}

TEST(TaskQueueTest, RecordsAreAligned) {
    TaskQueue queue;
    for (const size_t bytes : {kSmall, kSmall + 16, size_t{16368}, kSmall, size_t{40000}, kSmall}) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(Push(&queue, 0, bytes)) % kTaskAlignment, 0U);
    }
}

TEST(TaskQueueTest, RecordsDoNotMove) {
    TaskQueue queue;
    Task* const front = Push(&queue, 0);
    for (int64_t number = 1; number <= 5000; ++number) {
        Push(&queue, number);
    }
    EXPECT_EQ(queue.Front(), front);
    EXPECT_EQ(FrontNumber(queue), 0);
}

TEST(TaskQueueTest, ShortQueueStaysInTheSameMemory) {
    TaskQueue queue;
    Task* const first = Push(&queue, 0);
    queue.PopFront();
    for (int64_t number = 1; number < 5000; ++number) {
        EXPECT_EQ(Push(&queue, number), first);
        queue.PopFront();
    }
}

TEST(TaskQueueTest, LargerThanASegmentFits) {
    TaskQueue queue;
    Push(&queue, 1, 1 << 20);
    Push(&queue, 2, kSmall);
    Push(&queue, 3, 1 << 21);
    for (const int64_t number : {1, 2, 3}) {
        EXPECT_EQ(FrontNumber(queue), number);
        queue.PopFront();
    }
    EXPECT_TRUE(queue.Empty());
    Push(&queue, 4, 1 << 22);
    EXPECT_EQ(FrontNumber(queue), 4);
}

TEST(TaskQueueTest, AgreesWithAPlainQueue) {
    std::mt19937_64 random(11);
    TaskQueue queue;
    std::deque<int64_t> expected;
    int64_t pushed = 0;
    for (int round = 0; round < 200; ++round) {
        for (uint64_t count = random() % 60; count > 0; --count) {
            const size_t blocks = random() % 20 == 0 ? random() % 3000 : random() % 10;
            Push(&queue, pushed, kSmall + blocks * kTaskAlignment);
            expected.push_back(pushed++);
        }
        for (uint64_t count = random() % 60; count > 0 && !expected.empty(); --count) {
            ASSERT_FALSE(queue.Empty());
            ASSERT_EQ(FrontNumber(queue), expected.front());
            queue.PopFront();
            expected.pop_front();
        }
        ASSERT_EQ(queue.Empty(), expected.empty());
    }
    EXPECT_GT(pushed, 1000);
}

// The sequence of a record is its number.
std::vector<int64_t> NumbersBetween(TaskQueue* queue, int64_t first, uint64_t after, uint64_t upTo,
                                    uint64_t* passed) {
    std::vector<int64_t> numbers;
    *passed += queue->ForEachBetween(static_cast<uint64_t>(first), after, upTo,
                                     [&](Task& task, uint64_t sequence) {
                                         numbers.push_back(static_cast<QueuedTask&>(task).number);
                                         EXPECT_EQ(static_cast<uint64_t>(numbers.back()), sequence);
                                     });
    return numbers;
}

TEST(TaskQueueTest, RangesAgreeWithAPlainQueue) {
    std::mt19937_64 random(29);
    TaskQueue queue;
    std::deque<int64_t> expected;
    int64_t pushed = 0;
    uint64_t passed = 0;
    for (int round = 0; round < 1000; ++round) {
        for (uint64_t count = random() % 30; count > 0; --count) {
            const size_t blocks = random() % 20 == 0 ? random() % 3000 : random() % 10;
            Push(&queue, ++pushed, kSmall + blocks * kTaskAlignment);
            expected.push_back(pushed);
        }
        const int64_t first = expected.empty() ? pushed + 1 : expected.front();
        for (int range = 0; range < 3; ++range) {
            const uint64_t after = static_cast<uint64_t>(first) - 1 + random() % 60;
            const uint64_t upTo = random() % 5 == 0 ? UINT64_MAX : after + random() % 30;
            std::vector<int64_t> numbers;
            for (const int64_t number : expected) {
                if (static_cast<uint64_t>(number) > after &&
                    static_cast<uint64_t>(number) <= upTo) {
                    numbers.push_back(number);
                }
            }
            ASSERT_EQ(NumbersBetween(&queue, first, after, upTo, &passed), numbers) << round;
        }
        for (uint64_t count = random() % 35; count > 0 && !expected.empty(); --count) {
            queue.PopFront();
            expected.pop_front();
        }
    }
    EXPECT_GT(pushed, 10000);
}

// As an abort walks over the branch of a model whose replays are queued.
TEST(TaskQueueTest, OneRangeAfterAnotherPassesEachRecordOnce) {
    constexpr uint64_t kRanges = 1000;
    constexpr uint64_t kEach = 5;
    TaskQueue queue;
    for (uint64_t number = 1; number <= kRanges * kEach; ++number) {
        Push(&queue, static_cast<int64_t>(number));
    }
    for (int walk = 0; walk < 2; ++walk) {
        uint64_t passed = 0;
        for (uint64_t after = 0; after < kRanges * kEach; after += kEach) {
            EXPECT_EQ(NumbersBetween(&queue, 1, after, after + kEach, &passed).size(), kEach);
        }
        EXPECT_LE(passed, kRanges * (kEach + 1)) << "the last record of the range before is seen";
    }
}

TEST(TaskQueueTest, LongQueueIsFreedWithoutRecursion) {
    TaskQueue queue;
    for (int64_t number = 0; number < 20000; ++number) {
        Push(&queue, number, 16384);  // a segment each
    }
    EXPECT_EQ(FrontNumber(queue), 0);
}

// Nothing may fail between a reserve and its push.
TEST(TaskQueueTest, APushThatWasReservedTakesNoMemory) {
    if (support::kThreadSanitizer) {
        GTEST_SKIP() << "allocations are not counted under the thread sanitizer";
    }
    std::mt19937 random(23);
    TaskQueue queue;
    for (int64_t number = 0; number < 1000; ++number) {
        const size_t bytes = kTaskAlignment * (4 + random() % (number % 7 == 0 ? 3000 : 20));
        queue.Reserve(bytes);
        const uint64_t before = alignedAllocations;
        Push(&queue, number, bytes);
        ASSERT_EQ(alignedAllocations, before) << number << ", " << bytes << " bytes";
        while (!queue.Empty() && random() % 3 != 0) {
            queue.PopFront();
        }
    }
    EXPECT_GT(alignedAllocations, 0U) << "segments are counted";
}

TEST(TaskQueueTest, WhatIsReservedFitsWhereverTheQueueStands) {
    std::mt19937 random(17);
    TaskQueue queue;
    std::deque<int64_t> expected;
    for (int64_t number = 0; number < 3000; ++number) {
        const size_t bytes = kTaskAlignment * (4 + random() % (number % 7 == 0 ? 3000 : 20));
        queue.Reserve(bytes);
        if (random() % 2 == 0) {
            queue.Reserve(bytes);  // and may be reserved in vain
        }
        Push(&queue, number, bytes);
        expected.push_back(number);
        while (!expected.empty() && random() % 3 != 0) {
            ASSERT_FALSE(queue.Empty());
            ASSERT_EQ(FrontNumber(queue), expected.front());
            expected.pop_front();
            queue.PopFront();
        }
        ASSERT_EQ(queue.Empty(), expected.empty());
    }
}

}  // namespace
}  // namespace advstep
