// SPDX-License-Identifier: Apache-2.0
// The sanitizer's look at the slots and blocks of AdvanceStep and Step: each is of one sequence.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "acl/acl.h"
#include "support/advance_step_batch.h"
#include "support/sanitize_death_test.h"
#include "support/step_batch.h"
#include "support/table.h"

namespace {

using namespace support;
using namespace reference;

// Two queries and a padding row, with blocks of 4 tokens: the tokens go to position 5, which is in
// column 1.
AdvanceStepData TwoQueries(std::vector<int64_t> tables) {
    AdvanceStepData data;
    data.numSeqs = 3;
    data.numQueries = 2;
    data.blockSize = 4;
    data.maxBlocks = 3;
    data.inputTokens = data.inputPositions = data.slotMapping = {0, 0, 0};
    data.seqLens = {5, 5, 0};
    data.sampledTokenIds = {101, 102};
    data.blockTables = std::move(tables);
    return data;
}

template <typename Batch>
void RunOnce(Batch* batch) {
    Must(batch->Plan());
    Must(batch->Launch(nullptr));
    Must(aclrtSynchronizeStream(nullptr));
}

void RunAdvanceStep(std::vector<int64_t> tables, const OpLayout& layout = {}) {
    Must(aclrtSetDevice(0));
    {
        AdvanceStepBatch batch(TwoQueries(std::move(tables)), layout);
        RunOnce(&batch);
    }
    EndRuntime();
}

OpLayout NarrowTables() {
    OpLayout layout;
    layout.tables = ACL_INT32;
    return layout;
}

// The state after one more step, in which nothing happens: slot 0 has a block of a prefix and two
// of its own, slot 1 one of its own.
void RunStep(std::vector<int64_t> tables, std::vector<int64_t> freeList, int64_t batch = 2) {
    Must(aclrtSetDevice(0));
    {
        StepData data = IdleStepData({batch, batch, 3, 6, 16, 10, 4});
        for (int64_t slot = 0; slot < batch; ++slot) {
            const auto at = static_cast<size_t>(slot);
            data[kStopFlags][at] = slot < 2 ? 0 : 1;
            data[kSeqLensThisTime][at] = slot < 2 ? 1 : 0;
            data[kSeqLensDecoder][at] = slot == 0 ? 9 : slot == 1 ? 6 : 0;
            data[kEncoderBlockLens][at] = slot < 2 ? 1 : 0;
            data[kUsedListLen][at] = slot == 0 ? 2 : slot == 1 ? 1 : 0;
        }
        std::copy(tables.begin(), tables.end(), data[kStepBlockTables].begin());
        data[kFreeListLen] = {static_cast<int64_t>(freeList.size())};
        freeList.resize(6, -1);
        data[kFreeList] = freeList;
        StepBatch step(std::move(data));
        RunOnce(&step);
    }
    EndRuntime();
}

const SanitizeCase kSlotFound[] = {
    {"SameSlot",
     [] {
         RunAdvanceStep({2, 7, 0, 4, 7, 0, 0, 0, 0});
     },
     "slots: same_slot: aclnnAdvanceStep: queries 0 and 1 write slot 29, .*\n.*the launch was "
     "queued in:"},
    {"SameSlotInNarrowTables",
     [] {
         RunAdvanceStep({2, 7, 0, 4, 7, 0, 0, 0, 0}, NarrowTables());
     },
     "slots: same_slot: aclnnAdvanceStep: queries 0 and 1 write slot 29"},
    {"BlockThatAnotherQueryReads",
     [] {
         RunAdvanceStep({2, 7, 0, 7, 4, 0, 0, 0, 0});
     },
     "slots: shared_block: aclnnAdvanceStep: query 0 writes into block 7, which query 1 has in "
     "column 0 of blockTables"},
    {"BlockOnTheFreeList",
     [] {
         RunStep({500, 100, 101, 500, 102, -1}, {103, 101});
     },
     "slots: free_block_used: aclnnStep: block 101 is in column 2 of slot 0 and on the free list, "
     "as freeList.1."},
    {"BlockOfTwoSlots",
     [] {
         RunStep({500, 100, 101, 500, 101, -1}, {103});
     },
     "slots: shared_block: aclnnStep: block 101 is in column 1 of slot 1 and in a dynamic column "
     "of slot 0"},
    {"BlockOfTwoSlotsOnSeveralCores",
     [] {
         RunStep({500, 100, 101, 500, 101, -1}, {103}, 600);
     },
     "slots: shared_block: aclnnStep: block 101 is in column 1 of slot 1"},
};

class SlotFindingTest : public SanitizeDeathTest {};

TEST_P(SlotFindingTest, NamesBothRows) { ExpectFinding(GetParam(), "sync"); }

INSTANTIATE_TEST_SUITE_P(States, SlotFindingTest, testing::ValuesIn(kSlotFound), CaseName());

const SanitizeCase kSlotRight[] = {
    {"BlocksOfTheirOwn",
     [] {
         RunAdvanceStep({2, 7, 0, 4, 8, 0, 0, 0, 0});
     }},
    {"SharedPrefix",
     [] {
         RunAdvanceStep({2, 7, 0, 2, 8, 0, 0, 0, 0});
     }},
    {"SameBlockAfterTheEnd",
     [] {
         RunAdvanceStep({2, 7, 8, 4, 8, 7, 7, 7, 7});
     }},
    {"StepWithASharedPrefix",
     [] {
         RunStep({500, 100, 101, 500, 102, -1}, {103, 104});
     }},
};

class SlotRightTest : public SanitizeDeathTest {};

TEST_P(SlotRightTest, HasNoFinding) { ExpectNone(GetParam(), "memory"); }

INSTANTIATE_TEST_SUITE_P(States, SlotRightTest, testing::ValuesIn(kSlotRight), CaseName());

}  // namespace
