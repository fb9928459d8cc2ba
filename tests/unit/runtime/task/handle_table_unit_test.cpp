// SPDX-License-Identifier: Apache-2.0
// Tests of handle tables: lives, generations, foreign numbers, threads.

#include "src/runtime/task/handle_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "support/watchdog.h"

namespace advstep {
namespace {

struct TableThing {
    std::atomic<int> holders{0};
    uint32_t tableIndex = 0;
    uint32_t generation = 0;
};

class HandleTableTest : public testing::Test {
 protected:
    support::Watchdog watchdog_{std::chrono::seconds(60)};
    const std::unique_ptr<HandleTable<TableThing>> table_ =
        std::make_unique<HandleTable<TableThing>>(HandleKind::kStream);
};

TEST_F(HandleTableTest, FindsWhatWasAcquired) {
    const auto entry = table_->Acquire();
    EXPECT_NE(entry.handle, 0U);
    EXPECT_EQ(table_->Find(entry.handle), entry.object);
}

TEST_F(HandleTableTest, EveryLifeHasAHandleOfItsOwn) {
    std::set<Handle> handles;
    for (int life = 0; life < 100; ++life) {
        const auto entry = table_->Acquire();
        EXPECT_TRUE(handles.insert(entry.handle).second);
        table_->Release(entry.object);
    }
}

// A handle of before must not become valid again when the generations are used up.
TEST_F(HandleTableTest, AnObjectThatHasHadAllGenerationsIsNotUsedAgain) {
    const auto first = table_->Acquire();
    const uint32_t available = table_->Available();
    first.object->generation = UINT32_MAX - 1;
    table_->Release(first.object);
    const auto last = table_->Acquire();
    EXPECT_EQ(last.object, first.object);
    EXPECT_EQ(last.handle >> 32, UINT32_MAX);
    table_->Release(last.object);
    EXPECT_EQ(table_->Available(), available);
    EXPECT_TRUE(table_->Empty()) << "it is not alive";
    const auto next = table_->Acquire();
    EXPECT_NE(next.object, first.object);
    EXPECT_EQ(table_->Find(first.handle), first.object) << "no memory is freed";
}

TEST_F(HandleTableTest, ReleasedObjectsAreUsedAgainAndStillFound) {
    const auto first = table_->Acquire();
    table_->Release(first.object);
    const auto second = table_->Acquire();
    EXPECT_EQ(second.object, first.object);
    EXPECT_NE(second.handle, first.handle);
    EXPECT_EQ(table_->Find(first.handle), first.object);  // it is for the object to tell the lives
}

TEST_F(HandleTableTest, AvailableIsWhatCanStillBeAcquired) {
    const uint32_t most = table_->Available();
    EXPECT_EQ(most, uint32_t{1} << 20);
    const auto first = table_->Acquire();
    table_->Acquire();
    EXPECT_EQ(table_->Available(), most - 2);
    table_->Release(first.object);
    EXPECT_EQ(table_->Available(), most - 1);
    table_->Acquire();
    EXPECT_EQ(table_->Available(), most - 2);
}

TEST_F(HandleTableTest, LiveObjectsAreApart) {
    std::set<TableThing*> objects;
    std::set<Handle> handles;
    for (int index = 0; index < 200; ++index) {  // more than a chunk
        const auto entry = table_->Acquire();
        objects.insert(entry.object);
        handles.insert(entry.handle);
        EXPECT_EQ(table_->Find(entry.handle), entry.object);
    }
    EXPECT_EQ(objects.size(), 200U);
    EXPECT_EQ(handles.size(), 200U);
}

TEST_F(HandleTableTest, ForeignNumbersAreNotFound) {
    const auto entry = table_->Acquire();
    int local = 0;
    EXPECT_EQ(table_->Find(0), nullptr);
    EXPECT_EQ(table_->Find(entry.handle + 0x100), nullptr);  // the next index
    EXPECT_EQ(table_->Find(entry.handle ^ 0x01), nullptr);   // another kind
    EXPECT_EQ(table_->Find(~Handle{0}), nullptr);
    EXPECT_EQ(table_->Find(ToHandle(&local) & ~Handle{0xFF}), nullptr);
}

TEST_F(HandleTableTest, KindsDoNotKnowEachOther) {
    const auto events = std::make_unique<HandleTable<TableThing>>(HandleKind::kEvent);
    const auto stream = table_->Acquire();
    const auto event = events->Acquire();
    EXPECT_EQ(table_->Find(event.handle), nullptr);
    EXPECT_EQ(events->Find(stream.handle), nullptr);
}

TEST_F(HandleTableTest, GenerationIsNeverZero) {
    const auto entry = table_->Acquire();
    entry.object->generation = 0xFFFFFFFF;
    table_->Release(entry.object);
    EXPECT_NE(table_->Acquire().handle >> 32, 0U);
}

TEST_F(HandleTableTest, VisitsWhatIsAlive) {
    std::vector<TableThing*> things;
    for (int index = 0; index < 9000; ++index) {  // more than two groups of chunks
        things.push_back(table_->Acquire().object);
    }
    std::set<TableThing*> expected;
    for (size_t index = 0; index < things.size(); ++index) {
        if (index % 64 == 0 ? index < 4096 : index % 127 == 5) {
            expected.insert(things[index]);
        } else {
            table_->Release(things[index]);
        }
    }
    const auto visit = [&] {
        std::set<TableThing*> visited;
        table_->ForEach([&](TableThing& thing) { EXPECT_TRUE(visited.insert(&thing).second); });
        return visited;
    };
    EXPECT_EQ(visit(), expected);
    for (TableThing* const thing : expected) {
        table_->Release(thing);
    }
    EXPECT_TRUE(visit().empty());
    TableThing* const again = table_->Acquire().object;
    EXPECT_EQ(visit(), std::set<TableThing*>{again});
}

TEST_F(HandleTableTest, PointersAndHandlesConvert) {
    EXPECT_EQ(ToHandle(ToPointer(0x1234567890ABCDEF)), 0x1234567890ABCDEFU);
    EXPECT_EQ(ToHandle(nullptr), 0U);
}

TEST_F(HandleTableTest, EmptyWhileNothingIsAlive) {
    EXPECT_TRUE(table_->Empty());
    std::vector<HandleTable<TableThing>::Entry> entries;
    for (int i = 0; i < 70; ++i) {  // two chunks
        entries.push_back(table_->Acquire());
        EXPECT_FALSE(table_->Empty());
    }
    for (const auto& entry : entries) {
        EXPECT_FALSE(table_->Empty());
        table_->Release(entry.object);
    }
    EXPECT_TRUE(table_->Empty());
}

TEST_F(HandleTableTest, ThreadsNeverShareALife) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([this] {
            std::vector<HandleTable<TableThing>::Entry> held;
            for (int round = 0; round < 3000; ++round) {
                const auto entry = table_->Acquire();
                EXPECT_EQ(entry.object->holders.fetch_add(1), 0);
                EXPECT_EQ(table_->Find(entry.handle), entry.object);
                held.push_back(entry);
                if (held.size() > 40) {
                    EXPECT_EQ(held.front().object->holders.fetch_sub(1), 1);
                    table_->Release(held.front().object);
                    held.erase(held.begin());
                }
            }
        });
    }
    int visits = 0;
    for (int round = 0; round < 200; ++round) {
        table_->ForEach([&](TableThing& thing) { visits += thing.holders.load() >= 0 ? 1 : 0; });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    int held = 0;
    table_->ForEach([&](TableThing& thing) { held += thing.holders.load(); });
    EXPECT_EQ(held, 4 * 40);
    EXPECT_GE(visits, 0);
}

}  // namespace
}  // namespace advstep
