// SPDX-License-Identifier: Apache-2.0
// The golden cases and traces of Step, each on many machines. Format: spec/step.md.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance/machines.h"
#include "reference/step_invariants.h"
#include "support/runtime_test.h"
#include "support/step_batch.h"
#include "support/step_golden.h"

namespace step_golden {
namespace {

using conformance::Machine;
using nlohmann::json;
using reference::StepData;
using reference::StepOutcome;
using reference::StepResult;
using namespace support;

// One call of a trace: what the host writes before it, and what it has to leave behind.
struct TraceStep {
    std::vector<std::vector<int64_t>> writes;  // tensor, offset, values
    std::vector<int64_t> activity;
    std::string digest;
};

struct Trace {
    std::string name;
    StepData initial;
    int64_t firstBlock = 0;
    std::vector<TraceStep> steps;
};

std::string Hex(uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
    return text;
}

std::vector<int64_t> Activity(const StepResult& result) {
    return {result.released, result.needy, result.preempted, result.dispatched, result.recovered};
}

const std::vector<StepGoldenCase>& Cases(bool isExact) {
    static const std::vector<StepGoldenCase> standard =
        support::LoadStepGolden(ADVANCE_STEP_TEST_DATA "/step_standard.jsonl");
    static const std::vector<StepGoldenCase> exact =
        support::LoadStepGolden(ADVANCE_STEP_TEST_DATA "/step_exact.jsonl");
    return isExact ? exact : standard;
}

const std::vector<Trace>& Traces() {
    static const std::vector<Trace> traces = [] {
        std::vector<Trace> loaded;
        for (const json& line : support::ReadLines(ADVANCE_STEP_TEST_DATA "/step_traces.jsonl")) {
            if (line.contains("kind")) {
                Trace trace;
                trace.name = line.at("trace");
                trace.initial.dims = support::ReadDims(line);
                support::ReadTensors(line.at("state"), trace.initial);
                trace.firstBlock = line.at("pool").at(0);
                EXPECT_EQ(Hex(reference::StepDigest(trace.initial)), line.at("digest"));
                loaded.push_back(trace);
            } else {
                loaded.back().steps.push_back({line.at("w"), line.at("n"), line.at("digest")});
            }
        }
        return loaded;
    }();
    return traces;
}

void Apply(const TraceStep& step, StepData& data) {
    for (const std::vector<int64_t>& write : step.writes) {
        std::copy(write.begin() + 2, write.end(), data.tensors.at(write[0]).begin() + write[1]);
    }
}

// The reference agrees with the golden files, so that tests may rely on it.
TEST(StepReferenceTest, AgreesWithTheGoldenCases) {
    for (const bool isExact : {false, true}) {
        EXPECT_EQ(Cases(isExact).size(), 61U);
        for (const StepGoldenCase& golden : Cases(isExact)) {
            SCOPED_TRACE(golden.name);
            StepData data = golden.in;
            const StepResult result = reference::Step(data, isExact);
            EXPECT_EQ(result.outcome, golden.outcome);
            EXPECT_EQ(data.tensors, golden.out.tensors);
            if (golden.outcome == StepOutcome::kOk) {
                EXPECT_EQ(Activity(result), golden.activity);
                EXPECT_EQ(Hex(reference::StepDigest(golden.in)), golden.digestIn);
                EXPECT_EQ(Hex(reference::StepDigest(data)), golden.digestOut);
            }
        }
    }
}

TEST(StepReferenceTest, AgreesWithTheTraces) {
    ASSERT_EQ(Traces().size(), 2U);
    for (const Trace& trace : Traces()) {
        ASSERT_EQ(trace.steps.size(), 200U);
        StepData data = trace.initial;
        for (size_t i = 0; i < trace.steps.size(); ++i) {
            SCOPED_TRACE(trace.name + " " + std::to_string(i + 1));
            Apply(trace.steps[i], data);
            const StepResult result = reference::Step(data, true);
            ASSERT_EQ(result.outcome, StepOutcome::kOk);
            ASSERT_EQ(Activity(result), trace.steps[i].activity);
            ASSERT_EQ(Hex(reference::StepDigest(data)), trace.steps[i].digest);
            ASSERT_EQ(reference::FindStepInconsistency(data, trace.firstBlock), "");
        }
    }
}

struct StepGoldenRun {
    std::string conformance;
    Machine machine;
};

std::vector<StepGoldenRun> Runs() {
    const std::vector<Machine> machines = {
        {"Default", "Ascend910B3", "2", "ascending"}, {"OneCore", "sim:1", "1", "ascending"},
        {"SevenCores", "sim:7", "3", "ascending"},    {"SevenCoresOneThread", "sim:7", "1", "3"},
        {"SevenCoresShuffled", "sim:7", "3", "11"},   {"FortyShuffled", "Ascend910B3", "3", "5"}};
    std::vector<StepGoldenRun> runs;
    for (const char* conformance : {"standard", "vllm", "exact"}) {
        for (const Machine& machine : machines) {
            runs.push_back({conformance, machine});
        }
    }
    return runs;
}

std::string RunName(const testing::TestParamInfo<StepGoldenRun>& row) {
    return row.param.conformance + row.param.machine.name;
}

class StepGoldenTest : public support::DeviceTest,
                       public testing::WithParamInterface<StepGoldenRun> {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(Restart(GetParam().machine.With(GetParam().conformance)));
    }
    static const std::vector<StepGoldenCase>& OwnCases() {
        return Cases(GetParam().conformance == "exact");
    }
    static void ExpectOutcome(int status, const StepGoldenCase& golden, const StepBatch& batch) {
        if (golden.outcome == StepOutcome::kOk) {
            EXPECT_TRUE(IsOk(status));
            EXPECT_EQ(Hex(reference::StepDigest(batch.Download())), golden.digestOut);
        } else if (golden.outcome == StepOutcome::kNoProgress) {
            EXPECT_TRUE(IsError(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, status, {"aclnnStep"}));
        } else {
            EXPECT_TRUE(IsError(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, status, {"aclnnStep"}));
        }
        EXPECT_TRUE(batch.Holds(golden.out));
    }
};

TEST_P(StepGoldenTest, Once) {
    const support::Stream stream = support::MakeStream();
    for (const StepGoldenCase& golden : OwnCases()) {
        SCOPED_TRACE(golden.name);
        StepBatch batch(golden.in);
        ExpectOutcome(batch.Run(stream.Get()), golden, batch);
    }
}

TEST_P(StepGoldenTest, WithColumnsAndOffsets) {
    for (const StepGoldenCase& golden : OwnCases()) {
        SCOPED_TRACE(golden.name);
        StepBatch batch(golden.in, {true, 3});
        ExpectOutcome(batch.Run(nullptr, 64), golden, batch);
    }
}

TEST_P(StepGoldenTest, WithARepeatedExecutor) {
    for (const StepGoldenCase& golden : OwnCases()) {
        SCOPED_TRACE(golden.name);
        StepBatch batch(golden.in);
        ASSERT_TRUE(IsOk(batch.PlanRepeatable()));
        for (int run = 0; run < 3; ++run) {
            ExpectOutcome(batch.LaunchAndWait(nullptr, 7), golden, batch);
            batch.Upload(golden.in);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, StepGoldenTest, testing::ValuesIn(Runs()), RunName);

class StepTraceTest : public StepGoldenTest {};

TEST_P(StepTraceTest, LeavesTheDigests) {
    for (const Trace& trace : Traces()) {
        StepBatch batch(trace.initial);
        ASSERT_TRUE(IsOk(batch.PlanRepeatable()));
        StepData data = trace.initial;
        for (size_t i = 0; i < trace.steps.size(); ++i) {
            SCOPED_TRACE(trace.name + " " + std::to_string(i + 1));
            Apply(trace.steps[i], data);
            batch.Upload(data);
            ASSERT_TRUE(IsOk(batch.LaunchAndWait(nullptr)));
            ASSERT_EQ(Activity(reference::Step(data, true)), trace.steps[i].activity);
            ASSERT_TRUE(batch.Holds(data));
            data = batch.Download();
            ASSERT_EQ(Hex(reference::StepDigest(data)), trace.steps[i].digest);
        }
    }
}

std::vector<StepGoldenRun> ExactRuns() {
    std::vector<StepGoldenRun> runs = Runs();
    runs.erase(std::remove_if(runs.begin(), runs.end(),
                              [](const StepGoldenRun& run) { return run.conformance != "exact"; }),
               runs.end());
    return runs;
}

INSTANTIATE_TEST_SUITE_P(Machines, StepTraceTest, testing::ValuesIn(ExactRuns()), RunName);

}  // namespace
}  // namespace step_golden
