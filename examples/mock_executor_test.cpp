// SPDX-License-Identifier: Apache-2.0
// Tests of a small scheduler with a mocked library: what it does when the device is out of memory,
// when a step meets bad data, and when nothing moves. Link advance_step::mock and GoogleMock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "advance_step/testing/fake_engine.h"

namespace {

using advance_step::testing::FakeEngine;
using advance_step::testing::FakeEngineTest;
using advance_step::testing::FakeSequence;
using testing::DoDefault;
using testing::Return;

// ---- the program under test --------------------------------------------------------------------

// Decodes a batch of sequences, step by step. It knows the engine only by its Decode.
class Scheduler {
 public:
    Scheduler(FakeEngine& engine, aclrtStream stream) : engine_(engine), stream_(stream) {}

    void Add(FakeSequence sequence) { running_.push_back(std::move(sequence)); }

    // One iteration. Returns whether the batch has moved one token forward.
    bool Step() {
        if (running_.empty()) {
            Readmit();
            return false;
        }
        switch (engine_.Decode(running_, stream_)) {
            case ACL_SUCCESS:
                Readmit();
                return true;
            case ACL_ERROR_RT_MEMORY_ALLOCATION:  // a smaller batch needs less; the rest waits
                MoveTo(waiting_, running_.size() / 2);
                return false;
            case ACL_ERROR_RT_RESOURCE_ALLOC_FAIL:  // no progress: the youngest gives way
                MoveTo(waiting_, running_.size() - 1);
                return false;
            default:  // bad data: no result of this batch can be trusted
                MoveTo(failed_, 0);
                return false;
        }
    }

    const std::vector<FakeSequence>& Running() const { return running_; }
    const std::vector<FakeSequence>& Waiting() const { return waiting_; }
    const std::vector<FakeSequence>& Failed() const { return failed_; }

 private:
    // Moves the running sequences from `first` on.
    void MoveTo(std::vector<FakeSequence>& other, size_t first) {
        const auto begin = running_.begin() + static_cast<std::ptrdiff_t>(first);
        std::move(begin, running_.end(), std::back_inserter(other));
        running_.erase(begin, running_.end());
    }
    void Readmit() {
        if (!waiting_.empty()) {
            running_.push_back(std::move(waiting_.back()));
            waiting_.pop_back();
        }
    }

    FakeEngine& engine_;
    aclrtStream stream_;
    std::vector<FakeSequence> running_;
    std::vector<FakeSequence> waiting_;
    std::vector<FakeSequence> failed_;
};

// ---- its tests ---------------------------------------------------------------------------------

class SchedulerTest : public FakeEngineTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(FakeEngineTest::SetUp());
        scheduler = std::make_unique<Scheduler>(engine, stream);
        for (int64_t i = 0; i < 4; ++i) {  // three blocks of four tokens each
            scheduler->Add({5 + i, {i * 3, i * 3 + 1, i * 3 + 2}, 100 + i});
        }
    }

    std::unique_ptr<Scheduler> scheduler;
};

TEST_F(SchedulerTest, DecodesTheWholeBatchInOneLaunch) {
    EXPECT_TRUE(scheduler->Step());
    EXPECT_EQ(scheduler->Running()[0].length, 6);
    EXPECT_EQ(scheduler->Running()[0].slot, 5);  // token 5: block 1, its second slot
    EXPECT_EQ(scheduler->Running()[3].length, 9);
    EXPECT_EQ(Calls("aclnnAdvanceStep"), 1U);
}

TEST_F(SchedulerTest, HalvesTheBatchWhenThereIsNoMemory) {
    EXPECT_CALL(acl, aclrtMalloc)
        .WillOnce(Return(ACL_ERROR_RT_MEMORY_ALLOCATION))
        .WillRepeatedly(DoDefault());
    EXPECT_FALSE(scheduler->Step());
    EXPECT_EQ(scheduler->Running().size(), 2U);
    EXPECT_EQ(scheduler->Waiting().size(), 2U);
    EXPECT_EQ(Calls("aclnnAdvanceStep"), 0U);

    EXPECT_TRUE(scheduler->Step());  // there is memory again: one more in each step
    EXPECT_EQ(scheduler->Running().size(), 3U);
    EXPECT_TRUE(scheduler->Step());
    EXPECT_EQ(scheduler->Running().size(), 4U);
    EXPECT_EQ(engine.DecodedTokens(), 5U);
}

TEST_F(SchedulerTest, DropsTheBatchAfterADataError) {
    EXPECT_CALL(acl, aclrtSynchronizeStream(stream))
        .WillOnce(Return(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION));
    EXPECT_FALSE(scheduler->Step());
    EXPECT_TRUE(scheduler->Running().empty());
    ASSERT_EQ(scheduler->Failed().size(), 4U);
    EXPECT_EQ(scheduler->Failed()[0].length, 5);  // nothing of the step is kept

    EXPECT_FALSE(scheduler->Step());  // an empty batch is not decoded
    EXPECT_EQ(engine.DecodeCalls(), 1U);
}

TEST_F(SchedulerTest, PreemptsTheYoungestWhileNothingMoves) {
    EXPECT_CALL(acl, aclrtSynchronizeStream(stream))
        .Times(3)
        .WillOnce(Return(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL))
        .WillOnce(Return(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL))
        .WillOnce(DoDefault());
    EXPECT_FALSE(scheduler->Step());
    EXPECT_EQ(scheduler->Running().size(), 3U);
    EXPECT_FALSE(scheduler->Step());
    ASSERT_EQ(scheduler->Waiting().size(), 2U);
    EXPECT_EQ(scheduler->Waiting()[0].token, 103);
    EXPECT_TRUE(scheduler->Step());
    EXPECT_EQ(scheduler->Running().size(), 3U);
    EXPECT_TRUE(scheduler->Failed().empty());
}

// Without a mocked result the library itself finds the bad data.
TEST_F(SchedulerTest, DropsABatchWithABlockThatDoesNotExist) {
    scheduler->Add({4, {1, -1}, 200});
    EXPECT_FALSE(scheduler->Step());
    EXPECT_EQ(scheduler->Failed().size(), 5U);
}

}  // namespace
