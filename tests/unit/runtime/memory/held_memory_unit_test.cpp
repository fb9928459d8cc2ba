// SPDX-License-Identifier: Apache-2.0
// Which work holds which freed memory, with streams that are only numbers.
#include "src/runtime/memory/held_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace advstep {
namespace {

// The memory that a task touches: a range, an address, or anything.
struct Touch {
    enum Kind { kRange, kAddress, kAny } kind;
    uint64_t sequence;
    uintptr_t begin = 0;
    size_t bytes = 0;
};

Stream* StreamOf(uintptr_t number) { return reinterpret_cast<Stream*>(number); }

std::map<const Stream*, std::vector<Touch>> queued;

void List(const Ticket& place, TouchedMemory* touched) {
    for (const Touch& touch : queued[place.stream]) {
        if (touch.sequence > place.sequence) {
            return;
        }
        touched->NextTask(touch.sequence);
        if (touch.kind == Touch::kRange) {
            touched->Range(reinterpret_cast<const void*>(touch.begin), touch.bytes);
        } else if (touch.kind == Touch::kAddress) {
            touched->AllocationAt(touch.begin);
        } else {
            touched->Any();
        }
    }
}

class HeldMemoryTest : public testing::Test {
 protected:
    void TearDown() override { queued.clear(); }

    // Returns the sequence up to which [1000, 2000) of an allocation of [500, 3000) waits for the
    // first stream, of which ten tasks were queued before the free; 0: it does not wait.
    static uint64_t WaitsUpTo(std::vector<Touch> work) {
        queued[StreamOf(16)] = std::move(work);
        HeldMemory held;
        held.Add({1, 100, 200, 100, 200, {{StreamOf(16), 10}}});
        held.Add({2, 1000, 2000, 500, 3000, {{StreamOf(16), 10}}});
        held.Add({3, 2000, 3000, 500, 3000, {{StreamOf(16), 10}}});
        held.Narrow(&List);
        const std::vector<Ticket>& pending = held.Find(2)->pending;
        EXPECT_LE(pending.size(), 1U);
        return pending.empty() ? 0 : pending.front().sequence;
    }
};

struct HeldCase {
    const char* name;
    std::vector<Touch> work;
    uint64_t upTo;
};

void PrintTo(const HeldCase& each, std::ostream* out) { *out << each.name; }

class HeldMemoryCases : public HeldMemoryTest, public testing::WithParamInterface<HeldCase> {};

TEST_P(HeldMemoryCases, WaitsForTheLastTaskThatMayTouchIt) {
    EXPECT_EQ(WaitsUpTo(GetParam().work), GetParam().upTo);
}

constexpr auto kRange = Touch::kRange;
constexpr auto kAddress = Touch::kAddress;
constexpr auto kAny = Touch::kAny;

INSTANTIATE_TEST_SUITE_P(
    Table, HeldMemoryCases,
    testing::Values(HeldCase{"NoWork", {}, 0}, HeldCase{"RangeInside", {{kRange, 4, 1500, 8}}, 4},
                    HeldCase{"RangeAround", {{kRange, 4, 1, 100000}}, 4},
                    HeldCase{"RangeUpToIt", {{kRange, 4, 900, 100}}, 0},
                    HeldCase{"RangeIntoIt", {{kRange, 4, 900, 101}}, 4},
                    HeldCase{"RangeFromItsLastByte", {{kRange, 4, 1999, 1}}, 4},
                    HeldCase{"RangeAfterIt", {{kRange, 4, 2000, 1000}}, 0},
                    HeldCase{"RangeOfNoBytes", {{kRange, 4, 1000, 0}}, 0},
                    HeldCase{"AddressInside", {{kAddress, 4, 1000}}, 4},
                    HeldCase{"AddressInItsAllocation", {{kAddress, 4, 500}}, 4},
                    HeldCase{"AddressOfItsNeighbour", {{kAddress, 4, 2999}}, 4},
                    HeldCase{"AddressBeforeItsAllocation", {{kAddress, 4, 499}}, 0},
                    HeldCase{"AddressAfterItsAllocation", {{kAddress, 4, 3000}}, 0},
                    HeldCase{"Anything", {{kAny, 4}}, 4},
                    HeldCase{
                        "TheLastOfAll",
                        {{kRange, 2, 1500, 8}, {kRange, 7, 1, 8}, {kAny, 6}, {kAddress, 5, 600}},
                        6},
                    HeldCase{"TheLastOfThree", {{kAny, 2}, {kAny, 3}, {kRange, 9, 1500, 8}}, 9},
                    HeldCase{"QueuedAfterTheFree", {{kRange, 11, 1500, 8}, {kAny, 12}}, 0}),
    [](const auto& chosen) { return std::string(chosen.param.name); });

// A task is listed up to the latest free, and holds only what was freed after it was queued.
TEST_F(HeldMemoryTest, EachFreeHasItsOwnPlace) {
    queued[StreamOf(16)] = {{kRange, 3, 100, 1000}, {kRange, 8, 100, 1000}};
    HeldMemory held;
    held.Add({1, 100, 200, 100, 200, {{StreamOf(16), 5}}});
    held.Add({2, 300, 400, 300, 400, {{StreamOf(16), 9}}});
    held.Narrow(&List);
    EXPECT_EQ(held.Find(1)->pending.front().sequence, 3U);
    EXPECT_EQ(held.Find(2)->pending.front().sequence, 8U);
    EXPECT_EQ(held.Find(3), nullptr);
}

TEST_F(HeldMemoryTest, EachStreamHasItsOwnPlace) {
    queued[StreamOf(16)] = {{kRange, 3, 100, 8}};
    queued[StreamOf(32)] = {{kRange, 70, 5000, 8}};
    queued[StreamOf(48)] = {{kAny, 20}};
    HeldMemory held;
    held.Add({7, 100, 200, 100, 200, {{StreamOf(16), 5}, {StreamOf(32), 90}, {StreamOf(48), 20}}});
    held.Narrow(&List);
    const std::vector<Ticket>& pending = held.Find(7)->pending;
    ASSERT_EQ(pending.size(), 2U);
    EXPECT_EQ(pending[0].stream, StreamOf(16));
    EXPECT_EQ(pending[0].sequence, 3U);
    EXPECT_EQ(pending[1].stream, StreamOf(48));
    EXPECT_EQ(pending[1].sequence, 20U);
}

}  // namespace
}  // namespace advstep
