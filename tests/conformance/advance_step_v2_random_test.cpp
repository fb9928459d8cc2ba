// AdvanceStepV2 against the reference on random batches. A failure prints the seed of its batch;
// the batches are the same in every run.
#include <gtest/gtest.h>

#include "conformance/machines.h"
#include "support/advance_step_v2_batch.h"
#include "support/random.h"
#include "support/runtime_test.h"

namespace {

using conformance::Machine;
using reference::AdvanceStepV2Data;
using support::IsOk;
using support::OpBatch;
using support::Random;
using support::V2Layout;

constexpr int64_t kBlockSizes[] = {1, 2, 3, 7, 16, 31, 64, 128, 1000, 1024};

AdvanceStepV2Data RandomData(Random& random, int64_t mostRows) {
    const int64_t specNum = random.OneIn(8) ? 128 : random.Size(20);
    const int64_t seqs = random.Size(std::max<int64_t>(1, mostRows / (specNum + 1)));
    return support::MakeV2Data(seqs, specNum, random.OneOf(kBlockSizes), random.Size(40),
                               static_cast<uint64_t>(random.Between(0, 1 << 30)));
}

// Now and then something that may be a fault, in any row.
void Spoil(Random& random, AdvanceStepV2Data& data) {
    const int64_t w = data.RowsPerQuery();
    const int64_t edge = data.blockSize * data.maxBlocks;
    constexpr int64_t kTwo32 = int64_t{1} << 32;
    for (int64_t count = random.Between(1, 3); count > 0; --count) {
        const int64_t query = random.Between(0, data.numSeqs - 1);
        const int64_t row = query * w + random.Between(0, w - 1);
        const int64_t entry = random.Between(0, data.numSeqs * data.maxBlocks - 1);
        // Small even where the count has been spoilt already.
        const int64_t accepted = data.acceptedNum[query] % 1000;
        switch (random.Between(0, 7)) {
            case 0:
                data.inputPositions[row] = -accepted - random.Between(0, 2);
                break;
            case 1:
                data.inputPositions[row] = edge - accepted - random.Between(0, 2);
                break;
            case 2:
                data.sampledTokenIds[query * w] = -random.Between(1, 2);
                break;
            case 3:
                data.blockTables[entry] = -random.Between(1, 3);
                break;
            case 4:  // wraps to where it was
                data.inputPositions[row] += kTwo32 * random.Between(-1, 1);
                break;
            case 5:
                data.blockTables[entry] += kTwo32 * random.Between(0, 2);
                break;
            case 6:
                data.acceptedNum[query] = random.OneIn(2) ? INT64_MAX : INT64_MIN;
                break;
            default:
                data.blockTables[entry] =
                    random.OneIn(2) ? INT64_MAX / data.blockSize : INT32_MAX / data.blockSize + 1;
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
        runs.push_back({"Large" + machine.name, "standard", machine, 60000, 8, seed += 1000});
    }
    return runs;
}

class V2RandomTest : public support::DeviceTest, public testing::WithParamInterface<RandomRun> {};

TEST_P(V2RandomTest, AgreesWithTheReference) {
    const RandomRun& run = GetParam();
    ASSERT_NO_FATAL_FAILURE(Restart(run.machine.With(run.conformance)));
    const support::Stream stream = support::MakeStream();
    int faults = 0;
    for (int i = 0; i < run.batches; ++i) {
        SCOPED_TRACE(testing::Message() << "seed " << run.firstSeed + i);
        Random random(static_cast<uint64_t>(run.firstSeed + i));
        AdvanceStepV2Data data = RandomData(random, run.mostRows);
        const bool spoilt = random.OneIn(3);
        if (spoilt) {
            Spoil(random, data);
        }
        V2Layout layout;
        layout.matrices = random.OneIn(2);
        layout.tables = !spoilt && random.OneIn(2) ? ACL_INT32 : ACL_INT64;
        layout.rowStride = random.OneIn(2) ? 0 : data.maxBlocks + random.Between(0, 5);
        layout.viewOffset = random.OneIn(2) ? 0 : random.Between(1, 70);
        AdvanceStepV2Data expected = data;
        const auto error = reference::AdvanceStepV2(expected, run.conformance == "exact");
        OpBatch batch = support::MakeV2Batch(data, layout);
        const int status = batch.Run(stream.Get());
        if (error) {
            ++faults;
            ASSERT_TRUE(support::IsDataError(status, error->query, {error->row}));
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

INSTANTIATE_TEST_SUITE_P(Machines, V2RandomTest, testing::ValuesIn(Runs()),
                         [](const testing::TestParamInfo<RandomRun>& row) {
                             return row.param.name;
                         });

class V2SizeTest : public support::DeviceTest {};

// Around the sizes at which a core gets one row more, and a tile (3510 rows of 56 bytes) is full.
TEST_F(V2SizeTest, TileEdges) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_SOC", "sim:2"}}));
    for (const int64_t rows : {3510, 7020}) {
        for (const int64_t specNum : {1, 2, 4, 128}) {
            for (const int64_t seqs : {rows / (specNum + 1), rows / (specNum + 1) + 1}) {
                AdvanceStepV2Data data = support::MakeV2Data(seqs, specNum, 16, 2, 3);
                OpBatch batch = support::MakeV2Batch(data);
                ASSERT_TRUE(IsOk(batch.Run(nullptr)));
                ASSERT_FALSE(reference::AdvanceStepV2(data, false));
                ASSERT_TRUE(batch.Holds(support::ValuesOf(data)));
            }
        }
    }
}

TEST_F(V2SizeTest, AMillionSequences) {
    AdvanceStepV2Data data = support::MakeV2Data(1000000, 1, 128, 2, 9);
    OpBatch batch = support::MakeV2Batch(data, {true, ACL_INT32});
    ASSERT_TRUE(IsOk(batch.Run(nullptr)));
    ASSERT_FALSE(reference::AdvanceStepV2(data, false));
    EXPECT_TRUE(batch.Holds(support::ValuesOf(data)));
    EXPECT_EQ(batch.WorkspaceSize(), 0U);
}

// One stream, many steps, the positions of each being the result of the last.
TEST_F(V2SizeTest, StepsFollowEachOther) {
    const support::Stream stream = support::MakeStream();
    AdvanceStepV2Data data = support::MakeV2Data(64, 4, 8, 90, 9);
    for (size_t i = 0; i < data.inputPositions.size(); ++i) {
        data.inputPositions[i] = static_cast<int64_t>(i % 5);
    }
    OpBatch batch = support::MakeV2Batch(data);
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
    for (int step = 0; step < 100; ++step) {
        ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
        ASSERT_FALSE(reference::AdvanceStepV2(data, false));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(batch.Holds(support::ValuesOf(data)));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
}

}  // namespace
