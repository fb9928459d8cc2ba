// SPDX-License-Identifier: Apache-2.0
// The golden cases of AdvanceStep, each on many machines, with aligned and misaligned workspaces
// and with executors that run again.
#include <gtest/gtest.h>

#include <memory>

#include "conformance/machines.h"
#include "support/advance_step_batch.h"
#include "support/golden.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace {

using conformance::Machine;
using namespace support;

const std::vector<GoldenCase>& AllCases() {
    static const std::vector<GoldenCase> cases =
        support::LoadGolden(ADVANCE_STEP_TEST_DATA "/advance_step.jsonl");
    return cases;
}

// A conformance, the SoC's number of vector cores, and a machine that may play it.
struct GoldenRun {
    std::string conformance;
    int cores;
    Machine machine;
};

std::vector<GoldenRun> Runs() {
    std::vector<GoldenRun> runs;
    for (const Machine& machine : conformance::Machines()) {
        runs.push_back({"standard", 40, machine});
        runs.push_back({"vllm", 40, machine});
    }
    for (const int cores : {40, 48}) {
        for (const Machine& machine : conformance::ExactMachines(cores)) {
            runs.push_back({"exact", cores, machine});
        }
    }
    return runs;
}

// The message names every number of the reason, which starts with its query.
void ExpectReason(const std::string& message, const std::string& reason) {
    const std::vector<std::string> numbers = support::NumbersIn(reason);
    ASSERT_FALSE(numbers.empty());
    EXPECT_TRUE(support::NamesQuery(message, std::stoll(numbers[0])));
    for (const std::string& number : numbers) {
        EXPECT_TRUE(support::HasNumber(message, std::stoll(number)))
            << number << " of \"" << reason << "\" is not in: " << message;
    }
}

class GoldenTest : public support::DeviceTest, public testing::WithParamInterface<GoldenRun> {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(Restart(GetParam().machine.With(GetParam().conformance)));
        for (const GoldenCase& golden : AllCases()) {
            if (golden.conformance == GetParam().conformance && golden.cores == GetParam().cores) {
                cases_.push_back(&golden);
            }
        }
        ASSERT_GE(cases_.size(), 20U);
    }
    static void ExpectOutcome(int status, const GoldenCase& golden, const AdvanceStepBatch& batch) {
        if (golden.expect == "ok") {
            EXPECT_TRUE(IsOk(status));
        } else {
            const std::string message = support::TakeMessage();
            EXPECT_EQ(status, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION) << message;
            ExpectReason(message, golden.reason);
        }
        EXPECT_TRUE(batch.Holds(golden.out));
    }
    // Calls check for each case that has a plan.
    template <class Check>
    void ForEachPlanned(Check check) {
        for (const GoldenCase* golden : cases_) {
            if (golden->expect != "plan_error") {
                SCOPED_TRACE(golden->name);
                check(*golden);
            }
        }
    }

    std::vector<const GoldenCase*> cases_;
};

TEST_P(GoldenTest, Once) {
    const support::Stream stream = support::MakeStream();
    ForEachPlanned([&](const GoldenCase& golden) {
        AdvanceStepBatch batch(golden.in);
        ExpectOutcome(batch.Run(stream.Get()), golden, batch);
    });
}

TEST_P(GoldenTest, WithAMisalignedWorkspace) {
    for (const size_t misalignment : {1, 7, 63}) {
        ForEachPlanned([&](const GoldenCase& golden) {
            AdvanceStepBatch batch(golden.in);
            ExpectOutcome(batch.Run(nullptr, misalignment), golden, batch);
        });
    }
}

TEST_P(GoldenTest, WithARepeatedExecutor) {
    ForEachPlanned([&](const GoldenCase& golden) {
        AdvanceStepBatch batch(golden.in);
        ASSERT_TRUE(IsOk(batch.Plan()));
        ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
        for (int run = 0; run < 3; ++run) {
            ASSERT_TRUE(IsOk(batch.Launch(nullptr)));
            ExpectOutcome(aclrtSynchronizeStream(nullptr), golden, batch);
            batch.Upload();
        }
        EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
    });
}

TEST_P(GoldenTest, WithViews) {
    ForEachPlanned([&](const GoldenCase& golden) {
        support::OpLayout layout;
        layout.columns = true;
        layout.rowStride = golden.in.maxBlocks + 5;
        layout.viewOffset = 11;
        AdvanceStepBatch batch(golden.in, layout);
        ExpectOutcome(batch.Run(nullptr), golden, batch);
    });
}

// Every case queued before the first synchronisation, each on a stream of its own.
TEST_P(GoldenTest, AllAtOnce) {
    std::vector<std::unique_ptr<AdvanceStepBatch>> batches;
    std::vector<support::Stream> streams;
    ForEachPlanned([&](const GoldenCase& golden) {
        batches.push_back(std::make_unique<AdvanceStepBatch>(golden.in));
        streams.push_back(support::MakeStream());
        ASSERT_TRUE(IsOk(batches.back()->Plan()));
        ASSERT_TRUE(IsOk(batches.back()->Launch(streams.back().Get())));
    });
    size_t next = 0;
    ForEachPlanned([&](const GoldenCase& golden) {
        ExpectOutcome(aclrtSynchronizeStream(streams[next].Get()), golden, *batches[next]);
        ++next;
    });
}

TEST_P(GoldenTest, PlanErrors) {
    int checked = 0;
    for (const GoldenCase* golden : cases_) {
        if (golden->expect == "plan_error") {
            SCOPED_TRACE(golden->name);
            AdvanceStepBatch batch(golden->in);
            uint64_t size = 77;
            aclOpExecutor* executor = nullptr;
            EXPECT_TRUE(IsError(ACLNN_ERR_INNER_TILING_ERROR, batch.Plan(&size, &executor)));
            EXPECT_EQ(size, 77U);
            EXPECT_EQ(executor, nullptr);
            EXPECT_TRUE(batch.IsUntouched());
            ++checked;
        }
    }
    EXPECT_GE(checked, 6);
}

INSTANTIATE_TEST_SUITE_P(Machines, GoldenTest, testing::ValuesIn(Runs()),
                         [](const testing::TestParamInfo<GoldenRun>& row) {
                             return row.param.conformance + std::to_string(row.param.cores) +
                                    row.param.machine.name;
                         });

// The reference agrees with the golden cases, so that tests may rely on it.
TEST(ReferenceTest, AgreesWithTheGoldenCases) {
    for (const GoldenCase& golden : AllCases()) {
        SCOPED_TRACE(golden.name);
        if (golden.expect == "plan_error") {
            continue;
        }
        reference::AdvanceStepData data = golden.in;
        const auto error = golden.conformance == "exact"
                               ? reference::AdvanceStepExact(data, golden.cores)
                               : reference::AdvanceStepStandard(data);
        EXPECT_EQ(error.has_value(), golden.expect == "data_error");
        for (size_t i = 0; i < 6; ++i) {
            EXPECT_EQ(*data.Tensors()[i], *golden.out.Tensors()[i]) << support::kTensorNames[i];
        }
    }
}

}  // namespace
