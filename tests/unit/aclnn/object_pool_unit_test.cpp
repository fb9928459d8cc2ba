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
    using Pool = ObjectPool<Thing<0>>;
    auto* const first = Pool::Acquire();
    Pool::Release(first);
    EXPECT_EQ(Pool::Acquire(), first);
    Pool::Release(first);
}

TEST(ObjectPoolTest, ObjectsInHandAreApart) {
    using Pool = ObjectPool<Thing<1>>;
    std::set<Thing<1>*> held;
    for (int index = 0; index < 500; ++index) {
        EXPECT_TRUE(held.insert(Pool::Acquire()).second);
    }
    for (Thing<1>* const thing : held) {
        Pool::Release(thing);
    }
}

TEST(ObjectPoolTest, ReleasedObjectsAreUsedBeforeNewOnesAreMade) {
    using Pool = ObjectPool<Thing<2>>;
    std::set<Thing<2>*> known;
    for (int round = 0; round < 20; ++round) {
        std::vector<Thing<2>*> held;
        for (int index = 0; index < 200; ++index) {  // more than a thread keeps to itself
            held.push_back(Pool::Acquire());
            known.insert(held.back());
        }
        for (Thing<2>* const thing : held) {
            Pool::Release(thing);
        }
    }
    EXPECT_LE(known.size(), 224U);  // the 200 in hand, rounded up to batches
}

TEST(ObjectPoolTest, TakenBackObjectCanStillBeLookedAt) {
    using Pool = ObjectPool<Thing<3>>;
    auto* const thing = Pool::Acquire();
    thing->holders = 5;
    Pool::Release(thing);
    EXPECT_EQ(thing->holders, 5);  // the address sanitizer watches
}

TEST(ObjectPoolTest, KnowsItsObjects) {
    using Pool = ObjectPool<Thing<8>>;
    std::vector<Thing<8>*> held;
    for (int index = 0; index < 100; ++index) {  // in several chunks
        held.push_back(Pool::Acquire());
    }
    for (Thing<8>* const thing : held) {
        EXPECT_TRUE(Pool::Owns(thing));
        Pool::Release(thing);
        EXPECT_TRUE(Pool::Owns(thing)) << "free, but of the pool";
    }
    std::thread([&] { EXPECT_TRUE(Pool::Owns(held[50])); }).join();
    Thing<8> other;
    EXPECT_FALSE(Pool::Owns(&other));
    EXPECT_FALSE(Pool::Owns(nullptr));
    auto* const inside = reinterpret_cast<char*>(held[0]) + sizeof(void*);
    EXPECT_FALSE(Pool::Owns(reinterpret_cast<Thing<8>*>(inside)));
}

TEST(ObjectPoolTest, EndedThreadLeavesItsObjectsToOthers) {
    using Pool = ObjectPool<Thing<4>>;
    Thing<4>* theirs = nullptr;
    std::thread([&] {
        theirs = Pool::Acquire();
        Pool::Release(theirs);
    }).join();
    std::set<Thing<4>*> held;
    for (int index = 0; index < 32; ++index) {  // as many as the thread had taken at a time
        held.insert(Pool::Acquire());
    }
    EXPECT_EQ(held.count(theirs), 1U);
    for (Thing<4>* const thing : held) {
        Pool::Release(thing);
    }
}

TEST(ObjectPoolTest, ThreadThatOnlyReleasesLeavesItsObjectsToOthers) {
    using Pool = ObjectPool<Thing<7>>;
    std::set<Thing<7>*> given;
    for (int index = 0; index < 32; ++index) {  // all that the pool has
        given.insert(Pool::Acquire());
    }
    std::thread([&] {
        for (Thing<7>* const thing : given) {
            Pool::Release(thing);
        }
    }).join();
    std::set<Thing<7>*> held;
    for (int index = 0; index < 32; ++index) {
        held.insert(Pool::Acquire());
    }
    EXPECT_EQ(held, given);
    for (Thing<7>* const thing : held) {
        Pool::Release(thing);
    }
}

TEST(ObjectPoolTest, OnlyAFittingObjectOfTheLastOnesIsTaken) {
    using Pool = ObjectPool<Thing<8>>;
    Thing<8>* things[4];
    for (int index = 0; index < 4; ++index) {
        things[index] = Pool::Acquire();
        things[index]->holders = index;
    }
    for (Thing<8>* const thing : things) {
        Pool::Release(thing);
    }
    const auto take = [](int holders) {
        return Pool::AcquireFitting<3>(
            [&](const Thing<8>& thing) { return thing.holders == holders; });
    };
    EXPECT_EQ(take(0), nullptr);  // three others have been released since
    EXPECT_EQ(take(5), nullptr);
    EXPECT_EQ(take(2), things[2]);
    EXPECT_EQ(take(2), nullptr);
    EXPECT_EQ(take(0), things[0]);
    EXPECT_EQ(Pool::Acquire(), things[3]);  // the others have kept their order
    EXPECT_EQ(Pool::Acquire(), things[1]);
    for (Thing<8>* const thing : {things[0], things[1], things[2], things[3]}) {
        Pool::Release(thing);
    }
}

// Most of the objects of the thread are in hand.
TEST(ObjectPoolTest, ObjectsInTurnsKeepTheirContentsIfFewAreFree) {
    using Pool = ObjectPool<Thing<9>>;
    std::vector<Thing<9>*> inHand;
    for (int index = 0; index < 30; ++index) {
        inHand.push_back(Pool::Acquire());
    }
    const auto use = [](int holders) {
        Thing<9>* const thing =
            Pool::AcquireLike<8>([&](const Thing<9>& other) { return other.holders == holders; });
        const bool again = thing->holders == holders;
        thing->holders = holders;
        Pool::Release(thing);
        return again;
    };
    for (int holders = 1; holders <= 8; ++holders) {
        EXPECT_FALSE(use(holders)) << holders;
    }
    for (int turn = 0; turn < 3; ++turn) {
        for (int holders = 1; holders <= 8; ++holders) {
            EXPECT_TRUE(use(holders)) << holders;
        }
    }
    for (Thing<9>* const thing : inHand) {
        Pool::Release(thing);
    }
}

TEST(ObjectPoolTest, AThreadKeepsWhatItReleasedLast) {
    using Pool = ObjectPool<Thing<10>>;
    std::vector<Thing<10>*> things;
    for (int index = 0; index < 96; ++index) {
        things.push_back(Pool::Acquire());
    }
    for (Thing<10>* const thing : things) {  // more than a thread keeps
        Pool::Release(thing);
    }
    for (size_t back = 1; back <= 32; ++back) {
        EXPECT_EQ(Pool::Acquire(), things[things.size() - back]) << back;
    }
    for (size_t back = 1; back <= 32; ++back) {
        Pool::Release(things[things.size() - back]);
    }
}

// Destroyed after the thread's share of the pool.
struct LateUser {
    ~LateUser() {
        using Pool = ObjectPool<Thing<6>>;
        Thing<6>* const thing = Pool::Acquire();
        EXPECT_NE(thing, nullptr);
        Pool::Release(thing);
        *used = thing;
    }
    Thing<6>** used = nullptr;
};

TEST(ObjectPoolTest, EndingThreadMayStillUseIt) {
    using Pool = ObjectPool<Thing<6>>;
    Thing<6>* used = nullptr;
    std::thread([&] {
        thread_local LateUser late;
        late.used = &used;
        Pool::Release(Pool::Acquire());
    }).join();
    std::set<Thing<6>*> held;
    for (int index = 0; index < 32; ++index) {
        held.insert(Pool::Acquire());
    }
    EXPECT_EQ(held.count(used), 1U);  // the ended thread has kept nothing
    for (Thing<6>* const thing : held) {
        Pool::Release(thing);
    }
}

TEST(ObjectPoolTest, ObjectsTravelBetweenThreads) {
    const support::Watchdog watchdog(std::chrono::seconds(60));
    using Pool = ObjectPool<Thing<5>>;
    std::mutex mutex;
    std::vector<Thing<5>*> travelling;  // acquired by one thread, released by another
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int round = 0; round < 3000; ++round) {
                Thing<5>* const mine = Pool::Acquire();
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
                    Pool::Release(other);
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
