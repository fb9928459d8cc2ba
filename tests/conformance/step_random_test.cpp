// SPDX-License-Identifier: Apache-2.0
// Step against the reference in random serving loops: admissions, running, finishing, too few
// blocks, and now and then a spoilt state. A failure prints the seed of its service; the services
// are the same in every run.
#include <gtest/gtest.h>

#include <algorithm>

#include "advance_step/counters.h"
#include "conformance/machines.h"
#include "reference/step_invariants.h"
#include "support/random.h"
#include "support/runtime_test.h"
#include "support/sanitizers.h"
#include "support/step_batch.h"
#include "support/step_service.h"

namespace {

using namespace reference;
using conformance::Machine;
using namespace support;

StepDims RandomDims(Random& random) {
    StepDims dims;
    // The kernel looks at 64 slots at a time, and gives a core at least 256.
    dims.batch = random.OneIn(8)   ? random.OneOf({0, 63, 64, 65, 256, 257, 1000})
                 : random.OneIn(2) ? random.Between(1, 40)
                 : random.OneIn(2) ? random.Between(64, 200)
                                   : random.Between(257, 600);
    dims.slots = dims.batch + random.Between(0, 3);
    dims.blockSize = random.OneOf({1, 1, 2, 3, 4, 7, 16});
    const int64_t most = dims.batch > 100 ? 5 : 12;
    dims.inputIds = dims.blockSize * random.Between(2, most) +
                    (random.OneIn(2) ? 0 : random.Between(1, dims.blockSize) % dims.blockSize);
    dims.preIds = std::max<int64_t>(3, dims.inputIds - random.Between(0, 2));
    dims.columns = (dims.inputIds + dims.blockSize - 1) / dims.blockSize + random.Between(1, 3);
    const int64_t demand = dims.batch * dims.columns / 2;
    dims.capacity = random.OneIn(20) ? 0 : demand / random.OneOf({2, 4, 8, 20}) + 1;
    return dims;
}

// Under the thread sanitizer, which costs ten times as much, fewer steps: threads meet in each of
// them, and the results of all are held without it.
constexpr int64_t kPart = support::kThreadSanitizer ? 8 : 1;

// What has happened in the runs so far.
struct Tally {
    int64_t steps = 0, released = 0, dispatched = 0, preempted = 0, recovered = 0;
    int64_t noProgress = 0, invalid = 0, stalled = 0;  // steps
};

// Serves with one repeatable executor; every step is that of the reference.
void Serve(const StepDims& dims, uint64_t seed, bool isExact, int64_t steps, Tally& tally) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed + 1);
    using Service = support::StepService<Random>;
    Service service(dims, Random(seed));
    StepBatch batch(service.State(), {random.OneIn(2), random.Between(0, 3)});
    ASSERT_TRUE(IsOk(batch.PlanRepeatable()));
    const auto run = [&](StepData& data) {
        batch.Upload(data);
        const StepResult result = Step(data, isExact);
        const int status = batch.LaunchAndWait(nullptr, random.OneIn(2) ? 1 : 64);
        EXPECT_TRUE(IsCode(StepCode(result.outcome), status));
        support::TakeMessage();
        EXPECT_TRUE(batch.Holds(data));
        ++tally.steps;
        if (result.outcome == StepOutcome::kOk && data[kStepLens][0] > 0) {
            const auto flags = data[kStopFlags].begin();
            tally.stalled += std::find(flags, flags + dims.batch, 0) == flags + dims.batch;
        }
        tally.released += result.released;
        tally.dispatched += result.dispatched;
        tally.preempted += result.preempted;
        tally.recovered += result.recovered;
        tally.noProgress += result.outcome == StepOutcome::kNoProgress ? 1 : 0;
        tally.invalid += result.outcome == StepOutcome::kInvalid ? 1 : 0;
        return result.outcome;
    };
    bool isRetry = false;
    for (int64_t i = 0; i < steps; ++i) {
        SCOPED_TRACE(testing::Message() << "step " << i);
        if (!isRetry) {  // no forward pass without the blocks that it needs
            service.Advance();
        }
        if (random.OneIn(8)) {
            StepData spoilt = service.State();
            support::SpoilStep(random, spoilt);
            run(spoilt);
        }
        StepData data = service.State();
        const StepOutcome outcome = run(data);
        isRetry = outcome == StepOutcome::kNoProgress;
        if (outcome == StepOutcome::kOk) {
            service.Take(data);
        } else if (outcome == StepOutcome::kNoProgress) {
            service.ShedLoad();
        } else if (isExact) {
            service = Service(dims, Random(++seed));  // a short grant has broken the state
        }
        if (!isExact) {
            ASSERT_NE(outcome, StepOutcome::kInvalid);
            ASSERT_EQ(FindStepInconsistency(service.State(), support::kFirstDynamicBlock), "");
        }
        ASSERT_FALSE(testing::Test::HasFailure());
    }
}

// The device has counted the steps after which slots wait and none generates.
void ExpectStalled(const Tally& tally) {
    uint64_t counted = 0;
    EXPECT_TRUE(IsOk(advstepReadCounter(0, "stalled", &counted)));
    EXPECT_EQ(counted, static_cast<uint64_t>(tally.stalled));
}

struct StepRandomRun {
    std::string conformance;
    Machine machine;
    uint64_t firstSeed;
};

std::vector<StepRandomRun> StepRandomRuns() {
    std::vector<StepRandomRun> runs;
    uint64_t seed = 0;
    for (const Machine& machine : conformance::Machines()) {
        for (const char* conformance : {"standard", "vllm", "exact"}) {
            runs.push_back({conformance, machine, seed += 10000});
        }
    }
    return runs;
}

class StepRandomTest : public support::DeviceTest,
                       public testing::WithParamInterface<StepRandomRun> {};

TEST_P(StepRandomTest, AgreesWithTheReference) {
    const StepRandomRun& run = GetParam();
    ASSERT_NO_FATAL_FAILURE(Restart(run.machine.With(run.conformance)));
    Tally tally;
    for (uint64_t seed = run.firstSeed; tally.steps < 1200 / kPart; seed += 100) {
        Random random(seed);
        const StepDims dims = RandomDims(random);
        const int64_t steps = dims.batch == 0 ? 2 : dims.batch > 100 ? 30 : 60;
        ASSERT_NO_FATAL_FAILURE(Serve(dims, seed, run.conformance == "exact", steps, tally));
    }
    if (kPart == 1) {
        EXPECT_GT(tally.released, 100);
        EXPECT_GT(tally.dispatched, 1000);
        EXPECT_GT(tally.preempted, 50);
        EXPECT_GT(tally.recovered, 5);
        EXPECT_GT(tally.invalid, 10);
        EXPECT_LT(tally.invalid + tally.noProgress, tally.steps / 2);
    }
    ExpectStalled(tally);
    RecordProperty("steps", std::to_string(tally.steps));
}

TEST_P(StepRandomTest, AgreesInTheSizesAroundACore) {
    const StepRandomRun& run = GetParam();
    ASSERT_NO_FATAL_FAILURE(Restart(run.machine.With(run.conformance)));
    Tally tally;
    for (const int64_t batch : {1, 2, 63, 64, 65, 128, 255, 256, 257, 320, 512, 513, 1000}) {
        const StepDims dims = {batch, batch + 1, 6, batch, 17, 17, 4};
        const uint64_t seed = run.firstSeed + 5000 + static_cast<uint64_t>(batch);
        ASSERT_NO_FATAL_FAILURE(
            Serve(dims, seed, run.conformance == "exact", kPart == 1 ? 4 : 1, tally));
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, StepRandomTest, testing::ValuesIn(StepRandomRuns()),
                         [](const testing::TestParamInfo<StepRandomRun>& row) {
                             return row.param.conformance + row.param.machine.name;
                         });

class StepLargeTest : public support::DeviceTest {};

TEST_F(StepLargeTest, AgreesWithTheReference) {
    // Ascending cores are played several in a call, on several threads.
    for (const char* order : {"ascending", "3"}) {
        for (const bool isExact : {false, true}) {
            ASSERT_NO_FATAL_FAILURE(
                Restart({{"ADVANCE_STEP_CONFORMANCE", isExact ? "exact" : "standard"},
                         {"ADVANCE_STEP_THREADS", "3"},
                         {"ADVANCE_STEP_CORE_ORDER", order}}));
            Tally tally;
            // Under the thread sanitizer just enough slots for several threads.
            const int64_t batch = support::kThreadSanitizer ? 40000 : 100000;
            const StepDims dims = {batch, batch + 3, 4, batch * 3 / 10, 6, 6, 2};
            ASSERT_NO_FATAL_FAILURE(Serve(dims, 77, isExact, 5, tally));
            EXPECT_GT(tally.preempted, 0);
            EXPECT_GT(tally.released, 0);
        }
    }
}

// One long service at each pressure: the invariants hold after every one of its steps.
class StepServiceTest : public support::DeviceTest, public testing::WithParamInterface<int64_t> {};

TEST_P(StepServiceTest, TenThousandSteps) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", "standard"}}));
    const auto seed = static_cast<uint64_t>(GetParam());
    Tally tally;
    const StepDims dims = {16, 17, 9, GetParam(), 30, 30, 4};
    ASSERT_NO_FATAL_FAILURE(Serve(dims, seed, false, 10000 / kPart, tally));
    EXPECT_GE(tally.steps, 10000 / kPart);
    EXPECT_GT(tally.released, 500 / kPart);
    EXPECT_GT(tally.dispatched, 1000 / kPart);
    ExpectStalled(tally);
}

INSTANTIATE_TEST_SUITE_P(FreeBlocks, StepServiceTest, testing::Values(14, 24, 60),
                         testing::PrintToStringParamName());

}  // namespace
