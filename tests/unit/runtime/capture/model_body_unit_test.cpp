// SPDX-License-Identifier: Apache-2.0
// Tests of model bodies: joined branches, records, images.

#include "src/runtime/capture/model_body.h"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <utility>

namespace advstep {
namespace {

struct NumberedTask : Task {
    int64_t number;
};

RecordedTask Numbered(int64_t number, bool heavy = false) {
    const auto fill = [&](void* memory) -> Task* {
        auto* const task = new (memory) NumberedTask;
        task->number = number;
        task->length = heavy ? TaskLength::kHeavy : TaskLength::kUsual;
        return task;
    };
    const RecordFill make{[](void* callable, void* memory) {
                              return (*static_cast<decltype(fill)*>(callable))(memory);
                          },
                          const_cast<void*>(static_cast<const void*>(&fill))};
    return RecordTask(sizeof(NumberedTask), make);
}

RecordedTask WaitOf(int32_t branch, size_t position) {
    return RecordWaitTask({{}, branch, position}, 7);
}

// Branch b of the result has the given tasks: {kWork} or {branch, position}.
constexpr std::pair<int32_t, size_t> kWork{-1, 0};
using Script = std::vector<std::vector<std::pair<int32_t, size_t>>>;

ModelBody BodyOf(const Script& script) {
    ModelBody body;
    for (const auto& branch : script) {
        body.branches.emplace_back();
        for (const auto& [target, position] : branch) {
            body.branches.back().push_back(target < 0 ? Numbered(1) : WaitOf(target, position));
        }
    }
    return body;
}

TEST(ModelBodyTest, OneBranchIsJoined) {
    EXPECT_EQ(FindUnjoined(BodyOf({{}})), -1);
    EXPECT_EQ(FindUnjoined(BodyOf({{kWork, kWork}})), -1);
}

TEST(ModelBodyTest, ForkAndJoin) {
    EXPECT_EQ(FindUnjoined(BodyOf({{kWork, {1, 2}}, {{0, 1}, kWork}})), -1);
    EXPECT_EQ(FindUnjoined(BodyOf({{{1, 1}, {1, 2}, {1, 3}}, {{0, 0}, kWork, kWork}})), -1);
}

TEST(ModelBodyTest, ABranchMustBeJoinedUpToItsEnd) {
    EXPECT_EQ(FindUnjoined(BodyOf({{kWork}, {{0, 1}}})), 1) << "nothing but the wait that joined";
    EXPECT_EQ(FindUnjoined(BodyOf({{kWork, {1, 1}}, {{0, 1}, kWork}})), 1);
}

TEST(ModelBodyTest, JoinsMayGoThroughOtherBranches) {
    EXPECT_EQ(FindUnjoined(BodyOf({{{1, 2}}, {{0, 0}, {2, 2}}, {{0, 0}, kWork}})), -1);
    EXPECT_EQ(FindUnjoined(BodyOf({{{1, 1}}, {{0, 0}, {2, 2}}, {{0, 0}, kWork}})), 1)
        << "the wait for branch 2 comes after what branch 0 waits for";
    EXPECT_EQ(FindUnjoined(BodyOf({{{1, 2}}, {{0, 0}, {2, 1}}, {{0, 0}, kWork}})), 2);
}

TEST(ModelBodyTest, BranchesThatWaitForEachOtherAndForNobodyElseAreNotJoined) {
    EXPECT_EQ(FindUnjoined(BodyOf({{kWork}, {{0, 0}, {2, 1}}, {{0, 0}, {1, 1}}})), 1);
}

TEST(ModelBodyTest, ARecordIsACopyWithItsSize) {
    const RecordedTask recorded = Numbered(42);
    EXPECT_EQ(static_cast<const NumberedTask&>(recorded.task()).number, 42);
    EXPECT_EQ(recorded.task().bytes, AlignedTaskBytes(sizeof(NumberedTask)));
    EXPECT_EQ(recorded.waitBranch, RecordedTask::kNoWait);
}

TEST(ModelBodyTest, AWaitKeepsItsPlaceAndTimeout) {
    const RecordedTask recorded = WaitOf(3, 5);
    EXPECT_EQ(recorded.waitBranch, 3);
    EXPECT_EQ(recorded.waitPosition, 5U);
    EXPECT_EQ(static_cast<const TicketWaitTask&>(recorded.task()).timeoutNanoseconds, 7);
}

TEST(ModelBodyTest, AnImageHasTheRecordsSideBySide) {
    std::vector<RecordedTask> branch;
    branch.push_back(Numbered(1));
    branch.push_back(WaitOf(1, 4));
    branch.push_back(Numbered(2, true));
    const BranchImage image = MakeImage(branch);
    EXPECT_EQ(image.count, 3U);
    EXPECT_TRUE(image.heavy);
    const auto* next = reinterpret_cast<const unsigned char*>(image.records.data());
    const auto& first = *reinterpret_cast<const NumberedTask*>(next);
    EXPECT_EQ(first.number, 1);
    next += first.bytes;
    ASSERT_EQ(image.waits.size(), 1U);
    EXPECT_EQ(image.waits[0].offset, first.bytes);
    EXPECT_EQ(image.waits[0].branch, 1);
    EXPECT_EQ(image.waits[0].position, 4U);
    const auto& wait = *reinterpret_cast<const Task*>(next);
    EXPECT_EQ(wait.kind, TaskKind::kTicketWait);
    next += wait.bytes;
    EXPECT_EQ(reinterpret_cast<const NumberedTask*>(next)->number, 2);
    EXPECT_EQ(image.bytes(), first.bytes + wait.bytes + first.bytes);
}

TEST(ModelBodyTest, UsesAreListedWhenRecorded) {
    Work work(sizeof(Task));
    const int word = 0;
    work.source = &word;
    work.listUses = [](const void* source, std::vector<Use>* uses) {
        uses->push_back({Use::Kind::kMemory, "word", source, sizeof(int)});
    };
    const RecordFill make{[](void*, void* memory) { return new (memory) Task; }, nullptr};
    const RecordedTask recorded = RecordTask(work, make);
    ASSERT_EQ(recorded.uses.size(), 1U);
    EXPECT_EQ(recorded.uses[0].address, &word);
}

}  // namespace
}  // namespace advstep
