// SPDX-License-Identifier: Apache-2.0
// Tasks during which a synchronisation keeps the stream's lock. Only tasks that run without it are
// inside a task, for the calls that they make.
#include <gtest/gtest.h>

#include <vector>

#include "acl/acl_base.h"
#include "src/runtime/stream/stream.h"
#include "support/watchdog.h"
#include "unit/runtime/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

enum class Way { kLocked, kUnlocked };

class StreamBriefTest : public testing::Test {
 protected:
    void SetUp() override {
        isBrief = false;
        asked = 0;
    }

    Status Enqueue(const unit::TaskTraits& traits, Ticket* ticket = nullptr) {
        return bench_.Enqueue(
            [this] {
                ways_.push_back(InsideTask() ? Way::kUnlocked : Way::kLocked);
                return Status();
            },
            traits, ticket);
    }

    static inline bool isBrief;
    static inline int asked;
    static constexpr TaskType kAsks = {nullptr, [](const Task&) { return ++asked, isBrief; }};
    static constexpr unit::TaskTraits kGauged{TaskKind::kPlain, TaskLength::kGauged, &kAsks};

    support::Watchdog watchdog_{std::chrono::seconds(120)};
    unit::CountingWorkers workers_;
    Stream stream_;
    unit::StreamBench bench_{&stream_, 0x157, &workers_};
    std::vector<Way> ways_;
};

TEST_F(StreamBriefTest, BriefTasksRunUnderTheLockAndOthersDoNot) {
    ASSERT_TRUE(Succeeds(Enqueue(unit::kBrief)));
    ASSERT_TRUE(Succeeds(Enqueue({})));
    ASSERT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(ways_, (std::vector<Way>{Way::kLocked, Way::kUnlocked}));
}

// Enqueuers wait meanwhile.
TEST_F(StreamBriefTest, TheLockIsKeptForFourTasks) {
    for (int task = 0; task < 6; ++task) {
        ASSERT_TRUE(Succeeds(Enqueue(unit::kBrief)));
    }
    ASSERT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(ways_, (std::vector<Way>{Way::kLocked, Way::kLocked, Way::kLocked, Way::kLocked,
                                       Way::kUnlocked, Way::kUnlocked}));
}

TEST_F(StreamBriefTest, WorkersAreWokenForAStreamThatWaitsForABriefTask) {
    Stream other;
    unit::StreamBench waiting(&other, 0x257, &workers_);
    for (int place = 0; place < 3; ++place) {
        SCOPED_TRACE(place);
        ways_.clear();
        Ticket tickets[3];
        for (Ticket& ticket : tickets) {
            ASSERT_TRUE(Succeeds(Enqueue(unit::kBrief, &ticket)));
        }
        ASSERT_TRUE(Succeeds(waiting.EnqueueWait(tickets[place])));
        EXPECT_FALSE(waiting.RunSome(true));
        workers_.wakes = 0;
        ASSERT_TRUE(Succeeds(bench_.Synchronize()));
        EXPECT_EQ(workers_.wakes, 1);
        EXPECT_EQ(ways_, (std::vector<Way>(3, Way::kLocked)));
        EXPECT_TRUE(waiting.RunSome(true));
    }
}

TEST_F(StreamBriefTest, AGaugedTaskIsAskedOnce) {
    for (const bool brief : {true, false}) {
        ways_.clear();
        asked = 0;
        isBrief = brief;
        ASSERT_TRUE(Succeeds(Enqueue(kGauged)));
        EXPECT_EQ(asked, 0);
        ASSERT_TRUE(Succeeds(bench_.Synchronize()));
        EXPECT_EQ(asked, 1);
        EXPECT_EQ(ways_, (std::vector<Way>{brief ? Way::kLocked : Way::kUnlocked}));
    }
}

TEST_F(StreamBriefTest, AGaugedTaskIsAskedAfterTheTaskBeforeIt) {
    ASSERT_TRUE(Succeeds(bench_.Enqueue([] { return isBrief = true, Status(); }, unit::kBrief)));
    ASSERT_TRUE(Succeeds(Enqueue(kGauged)));
    ASSERT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(ways_, (std::vector<Way>{Way::kLocked}));
}

// Its memory may be gone.
TEST_F(StreamBriefTest, ASkippedTaskIsNotAsked) {
    ASSERT_TRUE(Succeeds(Enqueue(kGauged)));
    ASSERT_TRUE(
        Succeeds(stream_.Abort(bench_.GetHandle(), unit::kCaller, ACL_ERROR_RT_STREAM_ABORT)));
    ASSERT_TRUE(Succeeds(Enqueue(unit::kBrief)));
    ASSERT_TRUE(Succeeds(bench_.Synchronize()));
    EXPECT_EQ(asked, 0);
    EXPECT_EQ(ways_.size(), 1u);
}

TEST_F(StreamBriefTest, AFailureOfABriefGaugedTaskIsReported) {
    isBrief = true;
    ASSERT_TRUE(Succeeds(bench_.Enqueue([] { return Status(507035, "told by a test"); }, kGauged)));
    ASSERT_TRUE(Succeeds(Enqueue(kGauged)));
    EXPECT_TRUE(FailsWith(507035, bench_.Synchronize(), {"told by a test"}));
    EXPECT_EQ(ways_, (std::vector<Way>{Way::kLocked}));
}

TEST_F(StreamBriefTest, WorkersDoNotKeepTheLock) {
    isBrief = true;
    ASSERT_TRUE(Succeeds(Enqueue(kGauged)));
    EXPECT_TRUE(bench_.RunSome(true));
    EXPECT_EQ(asked, 0);
    EXPECT_EQ(ways_, (std::vector<Way>{Way::kUnlocked}));
}

TEST_F(StreamBriefTest, TheWatcherStepsAsideForAGaugedTaskThatIsNotBrief) {
    workers_.watches = true;
    for (const bool brief : {true, false}) {
        isBrief = brief;
        workers_.stepsAside = 0;
        ASSERT_TRUE(Succeeds(Enqueue(kGauged)));
        EXPECT_TRUE(bench_.RunSome(true));
        EXPECT_EQ(workers_.stepsAside, brief ? 0 : 1);
    }
}

TEST_F(StreamBriefTest, AGaugedTaskThatIsNotBriefIsLeftToWorkersBeforeATimeout) {
    const auto synchronize = [&](int32_t timeout) {
        WaitLimit limit;
        EXPECT_TRUE(Succeeds(MakeWaitLimit(timeout, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, &limit)));
        return stream_.Synchronize(bench_.GetHandle(), unit::kCaller, limit);
    };
    ASSERT_TRUE(Succeeds(Enqueue(kGauged)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, synchronize(5)));
    EXPECT_TRUE(ways_.empty());
    isBrief = true;
    EXPECT_TRUE(Succeeds(synchronize(100000)));
    EXPECT_EQ(ways_, (std::vector<Way>{Way::kUnlocked}));
}

}  // namespace
}  // namespace advstep
