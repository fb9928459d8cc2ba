// SPDX-License-Identifier: Apache-2.0
// The golden cases of AdvanceStepV2 on every number of cores, in many layouts and with executors
// that run again.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/advance_step_v2_batch.h"
#include "support/runtime_test.h"

namespace v2_golden {
namespace {

using reference::AdvanceStepV2Data;
using support::IsOk;
using support::OpBatch;
using support::OpLayout;

struct GoldenCase {
    std::string name;
    bool ok = false;
    std::string reason;
    AdvanceStepV2Data in, out;  // out is complete: in, with what changed
};

constexpr const char* kTensors[] = {"input_tokens", "sampled_token_ids", "input_positions",
                                    "seq_lens",     "slot_mapping",      "block_tables",
                                    "spec_token",   "accepted_num"};

std::vector<GoldenCase> Load() {
    std::ifstream file(ADVANCE_STEP_TEST_DATA "/advance_step_v2.jsonl");
    std::vector<GoldenCase> cases;
    for (std::string line; std::getline(file, line);) {
        const auto json = nlohmann::json::parse(line);
        EXPECT_EQ(json.at("conformance"), "standard");
        EXPECT_EQ(json.at("numQueries"), json.at("numSeqs"));
        GoldenCase golden;
        golden.name = json.at("name");
        golden.ok = json.at("expect") == "ok";
        golden.reason = json.value("reason", "");
        golden.in.specNum = json.at("specNum");
        support::ReadGoldenData(json, kTensors, &golden);
        cases.push_back(golden);
    }
    return cases;
}

const std::vector<GoldenCase>& AllCases() {
    static const std::vector<GoldenCase> cases = Load();
    return cases;
}

void ExpectOutcome(int status, const GoldenCase& golden, const OpBatch& batch) {
    support::ExpectGoldenStatus(status, golden.ok, golden.reason, true);
    EXPECT_TRUE(batch.Holds(support::ValuesOf(golden.out)));
}

TEST(V2ReferenceTest, AgreesWithTheGoldenCases) {
    int errors = 0;
    for (const GoldenCase& golden : AllCases()) {
        SCOPED_TRACE(golden.name);
        AdvanceStepV2Data data = golden.in;
        EXPECT_EQ(!reference::AdvanceStepV2(data, false).has_value(), golden.ok);
        EXPECT_EQ(support::ValuesOf(data), support::ValuesOf(golden.out));
        errors += golden.ok ? 0 : 1;
    }
    EXPECT_EQ(AllCases().size(), 44U);
    EXPECT_GE(errors, 5);
}

class V2GoldenTest : public support::DeviceTest, public testing::WithParamInterface<int> {};

TEST_P(V2GoldenTest, OnThisManyCores) {
    for (const char* threads : {"1", "4"}) {
        for (const std::string order : {"ascending", "1", "2"}) {
            ASSERT_NO_FATAL_FAILURE(
                Restart({{"ADVANCE_STEP_SOC", "sim:" + std::to_string(GetParam())},
                         {"ADVANCE_STEP_THREADS", threads},
                         {"ADVANCE_STEP_CORE_ORDER", order}}));
            for (const GoldenCase& golden : AllCases()) {
                SCOPED_TRACE(golden.name + ", threads " + threads + ", order " + order);
                OpBatch batch = support::MakeV2Batch(golden.in);
                ExpectOutcome(batch.Run(nullptr), golden, batch);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Cores, V2GoldenTest, testing::Range(1, 49));

class V2GoldenLayoutTest : public support::DeviceTest,
                           public testing::WithParamInterface<const char*> {};

TEST_P(V2GoldenLayoutTest, WithARepeatedExecutorAndReplayed) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", GetParam()}}));
    const support::Stream stream = support::MakeStream();
    for (const GoldenCase& golden : AllCases()) {
        SCOPED_TRACE(golden.name);
        OpBatch batch = support::MakeV2Batch(golden.in);
        ASSERT_TRUE(IsOk(batch.Plan()));
        ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(batch.Executor())));
        for (int run = 0; run < 3; ++run) {
            ASSERT_TRUE(IsOk(batch.Launch(stream.Get(), 7)));
            ExpectOutcome(aclrtSynchronizeStream(stream.Get()), golden, batch);
            batch.Upload();
        }
        EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(batch.Executor())));
        ExpectOutcome(batch.RunReplayed(stream.Get(), 7), golden, batch);
    }
}

TEST_P(V2GoldenLayoutTest, WithViews) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", GetParam()}}));
    for (const GoldenCase& golden : AllCases()) {
        SCOPED_TRACE(golden.name);
        for (const aclDataType tables : {ACL_INT64, ACL_INT32}) {
            for (const bool matrices : {false, true}) {
                if (matrices && GetParam() == std::string("exact")) {
                    continue;  // a real device refuses them
                }
                OpLayout layout;
                layout.columns = matrices;
                layout.tables = tables;
                layout.rowStride = golden.in.maxBlocks + 3;
                layout.viewOffset = 11;
                OpBatch batch = support::MakeV2Batch(golden.in, layout);
                ExpectOutcome(batch.Run(nullptr), golden, batch);
            }
        }
    }
}

// The golden values fit 32 bits, so the conformances agree on them.
INSTANTIATE_TEST_SUITE_P(Conformance, V2GoldenLayoutTest,
                         testing::Values("standard", "vllm", "exact"));

}  // namespace
}  // namespace v2_golden
