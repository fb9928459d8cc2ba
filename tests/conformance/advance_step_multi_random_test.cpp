// AdvanceStepMulti against the reference on random batches, and against calls of AdvanceStep. A
// failure prints the seed of its batch; the batches are the same in every run.
#include <gtest/gtest.h>

#include "aclnnop/aclnn_advance_step.h"
#include "advance_step/counters.h"
#include "conformance/machines.h"
#include "support/advance_step_multi_batch.h"
#include "support/random.h"
#include "support/runtime_test.h"

namespace {

using conformance::Machine;
using reference::AdvanceStepData;
using reference::MultiData;
using support::IsOk;
using support::MultiLayout;
using support::OpBatch;
using support::Random;

constexpr int64_t kBlockSizes[] = {1, 2, 3, 7, 16, 31, 64, 128, 1000};

MultiData RandomData(Random& random, const std::string& conformance, int64_t mostRows) {
    const int64_t steps = random.Size(20);
    const int64_t least = conformance == "vllm" ? 1 : 2;
    const int64_t seqs = std::max(random.Size(std::max<int64_t>(1, mostRows / steps)), least);
    const int64_t mostQueries = conformance == "vllm" ? seqs : seqs - 1;
    const int64_t queries = random.OneIn(2) ? mostQueries : random.Between(1, mostQueries);
    const AdvanceStepData one =
        support::MakeBatch(seqs, queries, random.OneOf(kBlockSizes), random.Size(40),
                           static_cast<uint64_t>(random.Between(0, 1 << 30)));
    // Without room the later steps run past the table.
    return support::MakeMultiData(random.OneIn(8) ? one : support::WithRoom(one, steps), steps,
                                  static_cast<uint64_t>(random.Between(0, 1 << 30)));
}

void Spoil(Random& random, MultiData& data) {
    AdvanceStepData& one = data.one;
    for (int64_t count = random.Between(1, 3); count > 0; --count) {
        const int64_t row = random.Between(0, one.numSeqs - 1);
        const int64_t edge = one.blockSize * one.maxBlocks;
        switch (random.Between(0, 3)) {
            case 0:
                one.seqLens[row] = -random.Between(1, 2 * one.blockSize);
                break;
            case 1:
                one.seqLens[row] = edge - data.steps + random.Between(-1, 2);
                break;
            case 2:
                one.seqLens[row] = one.numSeqs * edge - random.Between(0, data.steps);
                break;
            default:
                one.blockTables[random.Between(0, one.numSeqs * one.maxBlocks - 1)] =
                    -random.Between(1, 3);
        }
    }
}

struct RandomRun {
    std::string name;
    std::string conformance;
    int64_t exactCores;
    Machine machine;
    int batches;
    int firstSeed;
};

std::vector<RandomRun> Runs() {
    std::vector<RandomRun> runs;
    int seed = 1000;
    for (const Machine& machine : conformance::Machines()) {
        for (const char* conformance : {"standard", "vllm"}) {
            runs.push_back({conformance + machine.name, conformance, 0, machine, 80, seed});
            seed += 1000;
        }
    }
    for (const int cores : {40, 48}) {
        for (const Machine& machine : conformance::ExactMachines(cores)) {
            runs.push_back({"exact" + std::to_string(cores) + machine.name, "exact", cores, machine,
                            80, seed += 1000});
        }
    }
    return runs;
}

class MultiRandomTest : public support::DeviceTest,
                        public testing::WithParamInterface<RandomRun> {};

TEST_P(MultiRandomTest, AgreesWithTheReference) {
    const RandomRun& run = GetParam();
    ASSERT_NO_FATAL_FAILURE(Restart(run.machine.With(run.conformance)));
    const support::Stream stream = support::MakeStream();
    int faults = 0;
    for (int i = 0; i < run.batches; ++i) {
        SCOPED_TRACE(testing::Message() << "seed " << run.firstSeed + i);
        Random random(static_cast<uint64_t>(run.firstSeed + i));
        MultiData data = RandomData(random, run.conformance, 4000);
        if (random.OneIn(5)) {
            Spoil(random, data);
        }
        MultiLayout layout;
        layout.columns = random.OneIn(2);
        layout.rowStride = random.OneIn(2) ? 0 : data.one.maxBlocks + random.Between(0, 5);
        layout.viewOffset = random.OneIn(2) ? 0 : random.Between(1, 70);
        layout.tables = random.OneIn(2) ? ACL_INT32 : ACL_INT64;
        if (run.conformance == "vllm") {
            layout.lengths = random.OneIn(2) ? ACL_INT32 : ACL_INT64;
            layout.slots = random.OneIn(2) ? ACL_INT32 : ACL_INT64;
        }
        MultiData expected = data;
        const auto error = reference::AdvanceStepMulti(expected, run.exactCores, layout.Limits());
        OpBatch batch = support::MakeMultiBatch(data, layout);
        const int status = batch.Run(stream.Get());
        if (error) {
            ++faults;
            const std::string message = support::TakeMessage();
            ASSERT_EQ(status, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
            ASSERT_NE(message.find("aclnnAdvanceStepMulti: step " + std::to_string(error->step) +
                                   ", query " + std::to_string(error->query) + ":"),
                      std::string::npos)
                << message;
        } else {
            ASSERT_TRUE(IsOk(status));
        }
        ASSERT_TRUE(batch.Holds(support::ValuesOf(expected)));
        batch.Upload();
        ASSERT_EQ(batch.RunReplayed(stream.Get()), status);
        ASSERT_TRUE(batch.Holds(support::ValuesOf(expected)));
    }
    EXPECT_GT(faults, 0) << "the batches hold both";
    EXPECT_LT(faults, run.batches / 2);
}

INSTANTIATE_TEST_SUITE_P(Machines, MultiRandomTest, testing::ValuesIn(Runs()),
                         [](const testing::TestParamInfo<RandomRun>& row) {
                             return row.param.name;
                         });

class MultiCallsTest : public support::DeviceTest {
 protected:
    // One step by a call of AdvanceStep with views of the same memory.
    static void RunStep(const OpBatch& batch, const MultiData& data, int64_t step) {
        const AdvanceStepData& one = data.one;
        const auto tensor = [&](size_t index, std::vector<int64_t> shape, int64_t offset) {
            support::TensorSpec spec{std::move(shape), batch.Address(index)};
            spec.offset = offset;
            return support::Tensor(spec);
        };
        const int64_t seqs = one.numSeqs;
        const support::Tensor tensors[] = {
            tensor(0, {seqs}, 0),           tensor(1, {one.numQueries, 1}, step * one.numQueries),
            tensor(2, {seqs}, 0),           tensor(3, {seqs}, 0),
            tensor(4, {seqs}, step * seqs), tensor(5, {seqs, one.maxBlocks}, 0)};
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        ASSERT_TRUE(IsOk(aclnnAdvanceStepGetWorkspaceSize(
            tensors[0].Get(), tensors[1].Get(), tensors[2].Get(), tensors[3].Get(),
            tensors[4].Get(), tensors[5].Get(), seqs, one.numQueries, one.blockSize, &workspaceSize,
            &executor)));
        ASSERT_TRUE(IsOk(aclnnAdvanceStep(nullptr, 0, executor, nullptr)));
    }
    static AdvStepCounters Counters() {
        AdvStepCounters counters{};
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        EXPECT_TRUE(IsOk(advstepReadCounters(0, &counters)));
        EXPECT_TRUE(IsOk(advstepResetCounters(0)));
        return counters;
    }
};

TEST_F(MultiCallsTest, OneCallIsAsManyOfAdvanceStep) {
    for (const char* conformance : {"standard", "vllm", "exact"}) {
        SCOPED_TRACE(conformance);
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
        const MultiData data = support::MakeMultiData(
            support::WithRoom(support::MakeBatch(150, 100, 4, 9, 3), 25), 25, 4);
        OpBatch multi = support::MakeMultiBatch(data);
        ASSERT_TRUE(IsOk(multi.Run(nullptr)));
        const AdvStepCounters atOnce = Counters();
        OpBatch single = support::MakeMultiBatch(data);
        for (int64_t step = 0; step < 25; ++step) {
            ASSERT_NO_FATAL_FAILURE(RunStep(single, data, step));
        }
        const AdvStepCounters oneByOne = Counters();
        EXPECT_EQ(atOnce.advanced, oneByOne.advanced);
        EXPECT_EQ(atOnce.padded, oneByOne.padded);
        EXPECT_EQ(atOnce.launches, 1U);
        EXPECT_EQ(oneByOne.launches, 25U);
        MultiData expected = data;
        ASSERT_FALSE(reference::AdvanceStepMulti(expected, conformance[0] == 'e' ? 40 : 0));
        EXPECT_TRUE(multi.Holds(support::ValuesOf(expected)));
        EXPECT_TRUE(single.Holds(support::ValuesOf(expected)));
    }
}

// Tiles of 4096 rows.
TEST_F(MultiCallsTest, TileEdges) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_SOC", "sim:2"}}));
    for (const int64_t seqs : {4095, 4096, 4097, 8192, 8193}) {
        MultiData data = support::MakeMultiData(
            support::WithRoom(support::MakeBatch(seqs, seqs - 7, 16, 3, 3), 3), 3, 4);
        OpBatch batch = support::MakeMultiBatch(data);
        ASSERT_TRUE(IsOk(batch.Run(nullptr)));
        ASSERT_FALSE(reference::AdvanceStepMulti(data, 0));
        ASSERT_TRUE(batch.Holds(support::ValuesOf(data)));
    }
}

TEST_F(MultiCallsTest, ARepeatedExecutor) {
    MultiData data =
        support::MakeMultiData(support::WithRoom(support::MakeBatch(60, 50, 8, 30, 3), 200), 10, 4);
    const support::Stream stream = support::MakeStream();
    OpBatch batch = support::MakeMultiBatch(data);
    ASSERT_TRUE(IsOk(batch.Plan()));
    EXPECT_EQ(batch.WorkspaceSize(), 0U);
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
    for (int run = 0; run < 20; ++run) {
        ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
        ASSERT_FALSE(reference::AdvanceStepMulti(data, 0));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(batch.Holds(support::ValuesOf(data)));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
}

}  // namespace
