// AdvanceStep against the reference on random batches. A failure prints the seed of its batch; the
// batches are the same in every run.
#include <gtest/gtest.h>

#include "conformance/machines.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/random.h"
#include "support/runtime_test.h"

namespace {

using conformance::Machine;
using reference::AdvanceStepData;
using reference::AdvanceStepError;
using support::AdvanceStepBatch;
using support::BatchLayout;
using support::IsOk;
using support::kBlockTables;
using support::kSeqLens;
using support::kSlotMapping;
using support::Random;

constexpr int64_t kBlockSizes[] = {1, 2, 3, 7, 16, 31, 64, 128, 1000, 1024};

AdvanceStepData RandomData(Random& random, const std::string& conformance, int64_t mostRows) {
    const int64_t seqs = std::max<int64_t>(random.Size(mostRows), conformance == "vllm" ? 1 : 2);
    const int64_t mostQueries = conformance == "vllm" ? seqs : seqs - 1;
    const int64_t queries = random.OneIn(2) ? mostQueries : random.Between(1, mostQueries);
    const int64_t columns = random.Size(seqs > 4000 ? 6 : 60);
    return support::MakeBatch(seqs, queries, random.OneOf(kBlockSizes), columns,
                              static_cast<uint64_t>(random.Between(0, 1 << 30)));
}

// Now and then something that may be a fault, in any row.
void Spoil(Random& random, AdvanceStepData& data) {
    for (int64_t count = random.Between(1, 3); count > 0; --count) {
        const int64_t row = random.Between(0, data.numSeqs - 1);
        const int64_t edge = data.blockSize * data.maxBlocks;
        switch (random.Between(0, 3)) {
            case 0:
                data.seqLens[row] = -random.Between(1, 2 * data.blockSize);
                break;
            case 1:
                data.seqLens[row] = edge + random.Between(-1, 1);
                break;
            case 2:
                data.seqLens[row] = data.numSeqs * edge + random.Between(-1, 0);
                break;
            default:
                data.blockTables[random.Between(0, data.numSeqs * data.maxBlocks - 1)] =
                    -random.Between(1, 3);
        }
    }
}

BatchLayout RandomLayout(Random& random, const std::string& conformance, int64_t columns) {
    BatchLayout layout;
    layout.columns = random.OneIn(2);
    layout.rowStride = random.OneIn(2) ? 0 : columns + random.Between(0, 5);
    layout.viewOffset = random.OneIn(2) ? 0 : random.Between(1, 70);
    if (random.OneIn(3)) {
        layout.dtypes[kBlockTables] = ACL_INT32;
    }
    if (conformance == "vllm") {
        layout.dtypes[kSeqLens] = random.OneIn(2) ? ACL_INT32 : ACL_INT64;
        layout.dtypes[kSlotMapping] = random.OneIn(2) ? ACL_INT32 : ACL_INT64;
    }
    return layout;
}

struct RandomRun {
    std::string conformance;
    int cores;  // for exact
    Machine machine;
    int64_t mostRows;
    int batches;
    int firstSeed;
};

std::vector<RandomRun> RandomRuns() {
    std::vector<RandomRun> runs;
    int seed = 1000;
    for (const Machine& machine : conformance::Machines()) {
        for (const char* conformance : {"standard", "vllm"}) {
            runs.push_back({conformance, 0, machine, 3000, 60, seed += 1000});
        }
    }
    seed = 25000;  // the same batches whatever instruction sets there are
    for (const int cores : {40, 48}) {
        for (const Machine& machine : conformance::ExactMachines(cores)) {
            runs.push_back({"exact", cores, machine, 3000, 40, seed += 1000});
        }
    }
    for (const Machine& machine : {conformance::Machines()[0], conformance::Machines()[7]}) {
        Machine large = machine;
        large.name = "Large" + machine.name;
        for (const char* conformance : {"standard", "vllm", "exact"}) {
            runs.push_back({conformance, 40, large, 40000, 12, seed += 1000});
        }
    }
    return runs;
}

class RandomTest : public support::DeviceTest, public testing::WithParamInterface<RandomRun> {};

TEST_P(RandomTest, AgreesWithTheReference) {
    const RandomRun& run = GetParam();
    ASSERT_NO_FATAL_FAILURE(Restart(run.machine.With(run.conformance)));
    const support::Stream stream = support::MakeStream();
    int faults = 0;
    for (int i = 0; i < run.batches; ++i) {
        const int seed = run.firstSeed + i;
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Random random(seed);
        AdvanceStepData data = RandomData(random, run.conformance, run.mostRows);
        if (i == 0 && run.mostRows == 40000) {
            data = support::MakeBatch(40000, 39999, 16, 4, seed);
        }
        if (random.OneIn(3)) {
            Spoil(random, data);
        }
        const BatchLayout layout = RandomLayout(random, run.conformance, data.maxBlocks);
        reference::AdvanceStepLimits limits;
        limits.seqLens = layout.dtypes[kSeqLens] == ACL_INT32 ? INT32_MAX : INT64_MAX;
        limits.slotMapping = layout.dtypes[kSlotMapping] == ACL_INT32 ? INT32_MAX : INT64_MAX;

        AdvanceStepData expected = data;
        const auto error = run.conformance == "exact"
                               ? reference::AdvanceStepExact(expected, run.cores)
                               : reference::AdvanceStepStandard(expected, limits);
        AdvanceStepBatch batch(data, layout);
        const int status = batch.Run(stream.Get());
        if (error.has_value()) {
            ++faults;
            ASSERT_TRUE(support::IsDataError(status, error->query));
        } else {
            ASSERT_TRUE(IsOk(status));
        }
        ASSERT_TRUE(batch.Holds(expected));
    }
    if (run.batches >= 40) {
        EXPECT_GT(faults, 0) << "the batches hold both";
        EXPECT_LT(faults, run.batches / 2);
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, RandomTest, testing::ValuesIn(RandomRuns()),
                         [](const testing::TestParamInfo<RandomRun>& row) {
                             return row.param.conformance + std::to_string(row.param.cores) +
                                    row.param.machine.name;
                         });

}  // namespace
