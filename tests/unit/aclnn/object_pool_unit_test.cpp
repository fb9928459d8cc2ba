// SPDX-License-Identifier: Apache-2.0
// Tests of the object pool: reuse, objects after release, threads.

#include "src/aclnn/object_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "support/watchdog.h"

namespace advstep {
namespace {

// A type, and so a pool, for each test.
template <int kTest>
struct Thing {
    std::atomic<int> holders{0};
    Thing* nextFree = nullptr;
};

TEST(ObjectPoolTest, ReleasedObjectComesBackFirst) {
    auto& pool = ObjectPool<Thing<0>>::Instance();
    auto* const first = pool.Acquire();
    pool.Release(first);
    EXPECT_EQ(pool.Acquire(), first);
    pool.Release(first);
}

TEST(ObjectPoolTest, ObjectsInHandAreApart) {
    auto& pool = ObjectPool<Thing<1>>::Instance();
    std::set<Thing<1>*> held;
    for (int index = 0; index < 500; ++index) {
        EXPECT_TRUE(held.insert(pool.Acquire()).second);
    }
    for (Thing<1>* const thing : held) {
        pool.Release(thing);
    }
}

TEST(ObjectPoolTest, ReleasedObjectsAreUsedBeforeNewOnesAreMade) {
    auto& pool = ObjectPool<Thing<2>>::Instance();
    std::set<Thing<2>*> known;
    for (int round = 0; round < 20; ++round) {
        std::vector<Thing<2>*> held;
        for (int index = 0; index < 200; ++index) {  // more than a thread keeps to itself
            held.push_back(pool.Acquire());
            known.insert(held.back());
        }
        for (Thing<2>* const thing : held) {
            pool.Release(thing);
        }
    }
    EXPECT_LE(known.size(), 224U);  // the 200 in hand, rounded up to batches
}

TEST(ObjectPoolTest, TakenBackObjectCanStillBeLookedAt) {
    auto& pool = ObjectPool<Thing<3>>::Instance();
    auto* const thing = pool.Acquire();
    thing->holders = 5;
    pool.Release(thing);
    EXPECT_EQ(thing->holders, 5);  // the address sanitizer watches
}

TEST(ObjectPoolTest, EndedThreadLeavesItsObjectsToOthers) {
    auto& pool = ObjectPool<Thing<4>>::Instance();
    Thing<4>* theirs = nullptr;
    std::thread([&] {
        theirs = pool.Acquire();
        pool.Release(theirs);
    }).join();
    std::set<Thing<4>*> held;
    for (int index = 0; index < 32; ++index) {  // as many as the thread had taken at a time
        held.insert(pool.Acquire());
    }
    EXPECT_EQ(held.count(theirs), 1U);
    for (Thing<4>* const thing : held) {
        pool.Release(thing);
    }
}

// Destroyed after the thread's share of the pool.
struct LateUser {
    ~LateUser() {
        auto& pool = ObjectPool<Thing<6>>::Instance();
        Thing<6>* const thing = pool.Acquire();
        EXPECT_NE(thing, nullptr);
        pool.Release(thing);
        *used = thing;
    }
    Thing<6>** used = nullptr;
};

TEST(ObjectPoolTest, EndingThreadMayStillUseIt) {
    auto& pool = ObjectPool<Thing<6>>::Instance();
    Thing<6>* used = nullptr;
    std::thread([&] {
        thread_local LateUser late;
        late.used = &used;
        pool.Release(pool.Acquire());
    }).join();
    std::set<Thing<6>*> held;
    for (int index = 0; index < 32; ++index) {
        held.insert(pool.Acquire());
    }
    EXPECT_EQ(held.count(used), 1U);  // the ended thread has kept nothing
    for (Thing<6>* const thing : held) {
        pool.Release(thing);
    }
}

TEST(ObjectPoolTest, ObjectsTravelBetweenThreads) {
    const support::Watchdog watchdog(std::chrono::seconds(60));
    auto& pool = ObjectPool<Thing<5>>::Instance();
    std::mutex mutex;
    std::vector<Thing<5>*> travelling;  // acquired by one thread, released by another
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int round = 0; round < 3000; ++round) {
                Thing<5>* const mine = pool.Acquire();
                EXPECT_EQ(mine->holders.fetch_add(1), 0);
                Thing<5>* other = nullptr;
                {
                    const std::lock_guard<std::mutex> lock(mutex);
                    travelling.push_back(mine);
                    if (travelling.size() > 100) {
                        other = travelling[static_cast<size_t>(round) % 100];
                        travelling[static_cast<size_t>(round) % 100] = travelling.back();
                        travelling.pop_back();
                    }
                }
                if (other != nullptr) {
                    EXPECT_EQ(other->holders.fetch_sub(1), 1);
                    pool.Release(other);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(travelling.size(), 100U);
}

}  // namespace
}  // namespace advstep
