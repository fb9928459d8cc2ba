// AdvanceStepFlashInfer against the reference on random batches. A failure prints the seed of its
// batch; the batches are the same in every run.
#include <gtest/gtest.h>

#include "conformance/machines.h"
#include "support/advance_step_flashinfer_batch.h"
#include "support/random.h"
#include "support/runtime_test.h"

namespace {

using conformance::Machine;
using reference::AdvanceStepData;
using reference::FlashInferData;
using support::FlashInferLayout;
using support::IsOk;
using support::OpBatch;
using support::Random;

constexpr int64_t kBlockSizes[] = {1, 2, 3, 7, 16, 31, 64, 128, 1000, 1024};

AdvanceStepData RandomRows(Random& random, int64_t mostRows) {
    const int64_t seqs = random.Size(mostRows);
    const int64_t queries = random.OneIn(2) ? seqs : random.Between(1, seqs);
    return support::MakeBatch(seqs, queries, random.OneOf(kBlockSizes),
                              random.Size(seqs > 4000 ? 6 : 40),
                              static_cast<uint64_t>(random.Between(0, 1 << 30)));
}

// Now and then something that may be a fault, in any row.
void Spoil(Random& random, AdvanceStepData& data) {
    for (int64_t count = random.Between(1, 3); count > 0; --count) {
        const int64_t row = random.Between(0, data.numSeqs - 1);
        const int64_t edge = data.blockSize * data.maxBlocks;
        const int64_t entry = random.Between(0, data.numSeqs * data.maxBlocks - 1);
        switch (random.Between(0, 4)) {
            case 0:
                data.seqLens[row] = -random.Between(1, 2 * data.blockSize);
                break;
            case 1:
                data.seqLens[row] = edge + random.Between(-1, 1);
                break;
            case 2:
                data.seqLens[row] = random.OneIn(2) ? INT64_MAX : INT64_MIN;
                break;
            case 3:
                data.blockTables[entry] = int64_t{INT32_MAX} + random.Between(0, 1);
                break;
            default:
                data.blockTables[entry] = -random.Between(1, 3);
        }
    }
}

struct RandomRun {
    std::string name;
    std::string conformance;
    Machine machine;
    int64_t mostRows;
    int batches;
    int firstSeed;
};

std::vector<RandomRun> Runs() {
    std::vector<RandomRun> runs;
    int seed = 1000;
    for (const Machine& machine : conformance::Machines()) {
        for (const char* conformance : {"standard", "vllm", "exact"}) {
            runs.push_back({conformance + machine.name, conformance, machine, 2000, 80, seed});
            seed += 1000;
        }
    }
    for (const Machine& machine : {conformance::Machines()[0], conformance::Machines()[7]}) {
        runs.push_back({"Large" + machine.name, "standard", machine, 40000, 8, seed += 1000});
    }
    return runs;
}

class FlashInferRandomTest : public support::DeviceTest,
                             public testing::WithParamInterface<RandomRun> {};

// Whatever the device's conformance: the operator's own is vllm.
TEST_P(FlashInferRandomTest, AgreesWithTheReference) {
    const RandomRun& run = GetParam();
    ASSERT_NO_FATAL_FAILURE(Restart(run.machine.With(run.conformance)));
    const support::Stream stream = support::MakeStream();
    int faults = 0;
    for (int i = 0; i < run.batches; ++i) {
        SCOPED_TRACE(testing::Message() << "seed " << run.firstSeed + i);
        Random random(static_cast<uint64_t>(run.firstSeed + i));
        AdvanceStepData rows = RandomRows(random, run.mostRows);
        FlashInferData data = support::MakeFlashInferData(
            rows, random.OneIn(6) ? -random.Between(1, 9) : random.Between(0, 3));
        const bool spoilt = random.OneIn(4);
        if (spoilt) {
            Spoil(random, data.rows);
        }
        FlashInferLayout layout;
        layout.columns = random.OneIn(2);
        layout.rowStride = random.OneIn(2) ? 0 : rows.maxBlocks + random.Between(0, 5);
        layout.viewOffset = random.OneIn(2) ? 0 : random.Between(1, 70);
        if (!spoilt) {
            layout.lengths = random.OneIn(2) ? ACL_INT32 : ACL_INT64;
            layout.slots = random.OneIn(2) ? ACL_INT32 : ACL_INT64;
            layout.tables = random.OneIn(2) ? ACL_INT32 : ACL_INT64;
        }
        FlashInferData expected = data;
        const auto error = reference::AdvanceStepFlashInfer(expected, layout.Limits());
        OpBatch batch = support::MakeFlashInferBatch(data, layout);
        const int status = batch.Run(stream.Get(), static_cast<size_t>(random.Between(0, 65)));
        if (error) {
            ++faults;
            ASSERT_TRUE(support::IsDataError(status, *error));
        } else {
            ASSERT_TRUE(IsOk(status));
        }
        ASSERT_TRUE(batch.Holds(support::ValuesOf(expected)));
        batch.Upload();
        ASSERT_EQ(batch.RunReplayed(stream.Get()), status);
        ASSERT_TRUE(batch.Holds(support::ValuesOf(expected)));
    }
    if (run.batches >= 40) {
        EXPECT_GT(faults, 0) << "the batches hold both";
        EXPECT_LT(faults, run.batches / 2);
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, FlashInferRandomTest, testing::ValuesIn(Runs()),
                         [](const testing::TestParamInfo<RandomRun>& row) {
                             return row.param.name;
                         });

class FlashInferSizeTest : public support::DeviceTest {};

// Every number of cores, so every place for a core's first query.
TEST_F(FlashInferSizeTest, OnEveryNumberOfCores) {
    const AdvanceStepData rows = support::MakeBatch(97, 90, 4, 9, 5);
    const FlashInferData data = support::MakeFlashInferData(rows, 0);
    FlashInferData expected = data;
    ASSERT_FALSE(reference::AdvanceStepFlashInfer(expected));
    for (int cores = 1; cores <= 48; ++cores) {
        for (const char* threads : {"1", "4"}) {
            SCOPED_TRACE(testing::Message() << cores << " cores, threads " << threads);
            ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_SOC", "sim:" + std::to_string(cores)},
                                             {"ADVANCE_STEP_THREADS", threads},
                                             {"ADVANCE_STEP_CORE_ORDER", std::to_string(cores)}}));
            OpBatch batch = support::MakeFlashInferBatch(data);
            ASSERT_TRUE(IsOk(batch.Run(nullptr)));
            ASSERT_TRUE(batch.Holds(support::ValuesOf(expected)));
        }
    }
}

// Tiles of 3072 rows of 64 bytes.
TEST_F(FlashInferSizeTest, TileEdges) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_SOC", "sim:2"}}));
    for (const int64_t seqs : {3071, 3072, 3073, 6144, 6145}) {
        for (const int64_t queries : {seqs, seqs - 1, seqs / 2}) {
            FlashInferData data =
                support::MakeFlashInferData(support::MakeBatch(seqs, queries, 16, 3, 7), 2);
            OpBatch batch = support::MakeFlashInferBatch(data);
            ASSERT_TRUE(IsOk(batch.Run(nullptr)));
            ASSERT_FALSE(reference::AdvanceStepFlashInfer(data));
            ASSERT_TRUE(batch.Holds(support::ValuesOf(data)));
        }
    }
}

TEST_F(FlashInferSizeTest, ARepeatedExecutor) {
    AdvanceStepData rows = support::MakeBatch(64, 50, 8, 30, 9);
    for (int64_t& length : rows.seqLens) {
        length %= 20;
    }
    FlashInferData data = support::MakeFlashInferData(rows, 50 * 30);
    const support::Stream stream = support::MakeStream();
    OpBatch batch = support::MakeFlashInferBatch(data);
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
    for (int step = 0; step < 200; ++step) {
        ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
        ASSERT_FALSE(reference::AdvanceStepFlashInfer(data));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(batch.Holds(support::ValuesOf(data)));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
}

}  // namespace
