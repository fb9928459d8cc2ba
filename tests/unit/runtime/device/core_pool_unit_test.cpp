// SPDX-License-Identifier: Apache-2.0
// Tests of the core pool: every core once, threads, busy helpers.

#include "src/runtime/device/core_pool.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/host_work.h"
#include "support/watchdog.h"

namespace advstep {
namespace {

class CorePoolTest : public testing::Test {
 protected:
    support::Watchdog watchdog_{std::chrono::seconds(120)};
};

struct CoverCase {
    int32_t threads;
    int32_t count;
};

class CorePoolCoverTest : public testing::TestWithParam<CoverCase> {
 protected:
    support::Watchdog watchdog_{std::chrono::seconds(120)};
};

TEST_P(CorePoolCoverTest, EveryCoreIsPlayedOnce) {
    CorePool pool(GetParam().threads);
    const auto count = static_cast<size_t>(GetParam().count);
    for (int round = 0; round < 20; ++round) {
        std::vector<int> played(count);  // each entry belongs to one chunk
        pool.Run(GetParam().count, [&](int32_t begin, int32_t end) {
            EXPECT_LT(begin, end);
            for (int32_t core = begin; core < end; ++core) {
                ++played[static_cast<size_t>(core)];
            }
        });
        EXPECT_EQ(played, std::vector<int>(count, 1));
    }
}

INSTANTIATE_TEST_SUITE_P(Table, CorePoolCoverTest,
                         testing::Values(CoverCase{1, 1}, CoverCase{1, 40}, CoverCase{2, 0},
                                         CoverCase{2, 1}, CoverCase{2, 2}, CoverCase{2, 41},
                                         CoverCase{4, 3}, CoverCase{4, 40}, CoverCase{4, 48},
                                         CoverCase{4, 1000}, CoverCase{16, 7}),
                         [](const auto& row) {
                             return std::to_string(row.param.threads) + "Threads" +
                                    std::to_string(row.param.count) + "Cores";
                         });

TEST_F(CorePoolTest, SaysHowManyThreads) { EXPECT_EQ(CorePool(3).threads(), 3); }

TEST_F(CorePoolTest, OneThreadPlaysAllItself) {
    CorePool pool(1);
    const std::thread::id self = std::this_thread::get_id();
    pool.Run(40, [&](int32_t, int32_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
}

// A chunk that waits until two threads are in chunks ends only if a second thread helps.
bool TwoThreadsMeet(CorePool* pool) {
    std::atomic<int> inside{0};
    std::atomic<bool> met{true};
    pool->Run(2, [&](int32_t, int32_t) {
        ++inside;
        met = support::Eventually([&] { return inside.load() == 2; }) && met;
    });
    return met;
}

TEST_F(CorePoolTest, ThreadsPlayTogether) {
    CorePool pool(2);
    EXPECT_TRUE(TwoThreadsMeet(&pool));
}

TEST_F(CorePoolTest, UsesNoMoreThreadsThanItHas) {
    CorePool pool(3);
    std::mutex mutex;
    std::set<std::thread::id> threads;
    for (int round = 0; round < 50; ++round) {
        pool.Run(48, [&](int32_t, int32_t) {
            const std::lock_guard<std::mutex> lock(mutex);
            threads.insert(std::this_thread::get_id());
        });
    }
    EXPECT_LE(threads.size(), 3U);
}

// The only helper is held in another launch; this one must end without it.
TEST_F(CorePoolTest, BusyThreadsHoldNoLaunchUp) {
    CorePool pool(2);
    const support::Signal helperIn;
    const support::Signal release;
    std::thread other([&] {
        const std::thread::id launcher = std::this_thread::get_id();
        pool.Run(2, [&](int32_t, int32_t) {
            if (std::this_thread::get_id() != launcher) {
                helperIn.Set();
                EXPECT_TRUE(release.Wait());
            } else {
                EXPECT_TRUE(helperIn.Wait());  // leaves the other chunk to the helper
            }
        });
    });
    EXPECT_TRUE(helperIn.Wait());
    std::atomic<int> played{0};
    pool.Run(40, [&](int32_t begin, int32_t end) { played += end - begin; });
    EXPECT_EQ(played, 40);
    release.Set();
    other.join();
}

TEST_F(CorePoolTest, ReturnsOnlyWhenEveryChunkHasEnded) {
    CorePool pool(4);
    for (int round = 0; round < 300; ++round) {
        std::vector<int64_t> values(16, 0);
        pool.Run(16, [&](int32_t begin, int32_t end) {
            for (int32_t core = begin; core < end; ++core) {
                values[static_cast<size_t>(core)] = core + round;
            }
        });
        int64_t sum = 0;  // read without a lock: Run is the fence
        for (const int64_t value : values) {
            sum += value;
        }
        ASSERT_EQ(sum, 120 + 16 * round);
    }
}

TEST_F(CorePoolTest, SeveralLaunchesAtATime) {
    CorePool pool(3);
    std::vector<std::thread> launchers;
    std::atomic<int64_t> played{0};
    for (int launcher = 0; launcher < 4; ++launcher) {
        launchers.emplace_back([&] {
            for (int round = 0; round < 200; ++round) {
                std::atomic<int> mine{0};
                pool.Run(48, [&](int32_t begin, int32_t end) { mine += end - begin; });
                EXPECT_EQ(mine.load(), 48);
                played += mine.load();
            }
        });
    }
    for (std::thread& launcher : launchers) {
        launcher.join();
    }
    EXPECT_EQ(played.load(), 4 * 200 * 48);
}

TEST_F(CorePoolTest, RunsAgainAfterStop) {
    CorePool pool(2);
    for (int round = 0; round < 5; ++round) {
        EXPECT_TRUE(TwoThreadsMeet(&pool));
        pool.Stop();
    }
    pool.Stop();
}

}  // namespace
}  // namespace advstep
