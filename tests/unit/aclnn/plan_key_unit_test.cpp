// SPDX-License-Identifier: Apache-2.0
// Tests of the keys of plans, whatever was in their memory before, and of plans that are found by
// their keys.

#include "src/aclnn/plan_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <thread>
#include <vector>

#include "acl/acl_rt.h"
#include "src/aclnn/run.h"
#include "support/runtime_test.h"
#include "unit/aclnn/plan_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

constexpr int kTable = 0;

// A key in memory that is full of other bytes.
class KeyInUsedMemory {
 public:
    KeyInUsedMemory(int bytes, const std::vector<int64_t>& attributes) : KeyInUsedMemory(bytes) {
        key_ = new (memory_) PlanKey(&kTable, nullptr, 0, attributes.data(), attributes.size(), 0);
    }
    KeyInUsedMemory(int bytes, const PlanKey& other) : KeyInUsedMemory(bytes) {
        key_ = new (memory_) PlanKey(other);
    }
    const PlanKey& operator*() const { return *key_; }

 private:
    explicit KeyInUsedMemory(int bytes) {
        // Volatile, since a compiler may leave out what is written before a constructor.
        std::fill_n(static_cast<volatile unsigned char*>(memory_), sizeof(memory_), bytes);
    }

    alignas(PlanKey) unsigned char memory_[sizeof(PlanKey)];
    PlanKey* key_ = nullptr;
};

class PlanKeyTest : public support::DeviceTest {};

TEST_F(PlanKeyTest, EqualNumbersMakeEqualKeys) {
    std::vector<int64_t> attributes;
    for (int64_t count = 0; count < 30; ++count) {  // and three more numbers are 32 at most
        SCOPED_TRACE(count);
        const KeyInUsedMemory one(0x11, attributes);
        const KeyInUsedMemory other(0xEE, attributes);
        EXPECT_TRUE((*one).useful());
        EXPECT_TRUE(*one == *other);
        EXPECT_TRUE(*KeyInUsedMemory(0x77, *one) == *other);
        attributes.push_back(100 + count);
    }
    EXPECT_FALSE((*KeyInUsedMemory(0x11, attributes)).useful()) << "more than a key holds";
}

TEST_F(PlanKeyTest, EachNumberCounts) {
    const std::vector<int64_t> attributes = {1, 2, 3, 4, 5, 6};
    const KeyInUsedMemory key(0x11, attributes);
    for (size_t place = 0; place < attributes.size(); ++place) {
        SCOPED_TRACE(place);
        std::vector<int64_t> changed = attributes;
        changed[place] ^= int64_t{1} << 62;
        EXPECT_FALSE(*key == *KeyInUsedMemory(0x11, changed));
    }
    EXPECT_FALSE(*key == *KeyInUsedMemory(0x11, {1, 2, 3, 4, 5}));
    EXPECT_FALSE(*key == *KeyInUsedMemory(0x11, {1, 2, 3, 4, 5, 6, 0}));
    EXPECT_FALSE(PlanKey() == PlanKey());
}

// Plans of one operator by number, in a thread whose cache of executors is new.
class PlansByNumber {
 public:
    explicit PlansByNumber(const Device* device) : bench_(device) {}

    // Returns the record of the plan. *again: it was found.
    aclOpExecutor* Use(int64_t number, bool* again) {
        const PlanKey key(&kTable, nullptr, 0, &number, 1, 0);
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        *again = PlannedBefore(key, &size, &executor);
        return *again ? Spend(executor) : Make(&key);
    }
    bool Again(int64_t number) {
        bool again = false;
        (void)Use(number, &again);
        return again;
    }
    // Makes a plan that cannot be found.
    aclOpExecutor* Make(const PlanKey* key = nullptr) {
        bench_.UseKey(key);
        aclOpExecutor* executor = nullptr;
        EXPECT_TRUE(unit::Succeeds(bench_.Make(&executor)));
        return Spend(executor);
    }

 private:
    static aclOpExecutor* Spend(aclOpExecutor* executor) {
        executor->state = aclOpExecutor::State::kFree;
        RecycleExecutor(executor);
        return executor;
    }

    unit::PlanBench bench_;
};

template <typename Body>
void InNewThread(Body&& body) {
    std::thread([&] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        const Device* device = nullptr;
        ASSERT_TRUE(unit::Succeeds(PlanningDevice(&device)));
        PlansByNumber plans(device);
        body(plans);
    }).join();
}

TEST_F(PlanKeyTest, EightPlansInTurnsAreFoundAgain) {
    InNewThread([](PlansByNumber& plans) {
        aclOpExecutor* records[8] = {};
        for (int64_t turn = 0; turn < 32; ++turn) {
            bool again = false;
            aclOpExecutor* const record = plans.Use(turn % 8, &again);
            EXPECT_EQ(again, turn >= 8) << turn;
            EXPECT_TRUE(!again || record == records[turn % 8]) << turn;
            records[turn % 8] = record;
        }
    });
}

TEST_F(PlanKeyTest, TheOldestPlanGoes) {
    InNewThread([](PlansByNumber& plans) {
        for (int64_t number = 0; number < 9; ++number) {
            EXPECT_FALSE(plans.Again(number));
        }
        for (int64_t number = 8; number > 0; --number) {
            EXPECT_TRUE(plans.Again(number)) << number;
        }
        EXPECT_FALSE(plans.Again(0));
    });
}

TEST_F(PlanKeyTest, PlansThatCannotBeFoundTakeTheirRecordAgain) {
    InNewThread([](PlansByNumber& plans) {
        EXPECT_FALSE(plans.Again(1));
        aclOpExecutor* const record = plans.Make();
        for (int turn = 0; turn < 20; ++turn) {
            EXPECT_EQ(plans.Make(), record);
        }
        EXPECT_TRUE(plans.Again(1));
    });
}

}  // namespace
}  // namespace advstep
