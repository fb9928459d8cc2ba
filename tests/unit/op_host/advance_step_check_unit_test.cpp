// SPDX-License-Identifier: Apache-2.0
// Tests of AdvanceStep's checks: every broken rule, every conformance.

#include "op_host/advance_step/advance_step.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "support/table.h"
#include "unit/op_host/params_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using namespace ::advance_step::op;

using unit::FailsWith;
using unit::OwnedView;
using unit::ParamsBench;
using unit::Succeeds;

op::Environment Under(Conformance conformance) {
    op::Environment environment;
    environment.conformance = conformance;
    return environment;
}

constexpr Conformance kAll[] = {Conformance::kStandard, Conformance::kVllm, Conformance::kExact};

TEST(AdvanceStepCheckTest, GoodArgumentsPassEverywhere) {
    ParamsBench bench(8, 7, 16, 4);
    for (const Conformance conformance : kAll) {
        EXPECT_TRUE(Succeeds(CheckAdvanceStep(bench.Params(), Under(conformance))));
    }
}

struct CheckCase {
    const char* name;
    std::function<void(ParamsBench&)> change;
    int32_t code;
    std::string part;  // of the message
};

class AdvanceStepCheckTableTest : public testing::TestWithParam<CheckCase> {};

// Rules that hold under every conformance.
TEST_P(AdvanceStepCheckTableTest, BrokenRuleIsNamed) {
    ParamsBench bench(8, 5, 16, 4);
    GetParam().change(bench);
    for (const Conformance conformance : kAll) {
        EXPECT_TRUE(FailsWith(GetParam().code, CheckAdvanceStep(bench.Params(), Under(conformance)),
                              {GetParam().part, "; expected "}));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Table, AdvanceStepCheckTableTest,
    testing::Values(
        CheckCase{"TokensDtype", [](ParamsBench& b) { b.inputTokens.dataType = ACL_INT32; },
                  kParamInvalid, "inputTokens has dtype ACL_INT32"},
        CheckCase{"SampledDtype", [](ParamsBench& b) { b.sampledTokenIds.dataType = ACL_INT32; },
                  kParamInvalid, "sampledTokenIds has dtype ACL_INT32"},
        CheckCase{"PositionsDtype", [](ParamsBench& b) { b.inputPositions.dataType = ACL_INT32; },
                  kParamInvalid, "inputPositions has dtype ACL_INT32"},
        CheckCase{"LengthsDtype", [](ParamsBench& b) { b.seqLens.dataType = ACL_UINT64; },
                  kParamInvalid, "seqLens has dtype ACL_UINT64"},
        CheckCase{"SlotsDtype", [](ParamsBench& b) { b.slotMapping.dataType = ACL_FLOAT; },
                  kParamInvalid, "slotMapping has dtype ACL_FLOAT"},
        CheckCase{"TablesDtype", [](ParamsBench& b) { b.blockTables.dataType = ACL_INT16; },
                  kParamInvalid, "blockTables has dtype ACL_INT16"},
        CheckCase{"TokensFormat", [](ParamsBench& b) { b.inputTokens.format = ACL_FORMAT_NCHW; },
                  kParamInvalid, "inputTokens has format ACL_FORMAT_NCHW"},
        CheckCase{"TablesFormat", [](ParamsBench& b) { b.blockTables.format = ACL_FORMAT_NC; },
                  kParamInvalid, "blockTables has format ACL_FORMAT_NC"},
        CheckCase{"LengthsApart", [](ParamsBench& b) { b.seqLens.strides = {2}; }, kParamInvalid,
                  "seqLens has shape [8] and strides [2]"},
        CheckCase{"SampledApart",
                  [](ParamsBench& b) {
                      b.sampledTokenIds.strides = {3, 1};
                  },
                  kParamInvalid, "sampledTokenIds has shape [5, 1] and strides [3, 1]"},
        CheckCase{"TableRowsShared",
                  [](ParamsBench& b) {
                      b.blockTables.strides = {3, 1};
                  },
                  kParamInvalid, "blockTables has shape [8, 4] and strides [3, 1]"},
        CheckCase{"TableInnerGaps",
                  [](ParamsBench& b) {
                      b.blockTables.strides = {8, 2};
                  },
                  kParamInvalid, "blockTables has shape [8, 4] and strides [8, 2]"},
        CheckCase{"NumSeqsZero", [](ParamsBench& b) { b.numSeqs = 0; }, kTilingError,
                  "numSeqs is 0"},
        CheckCase{"NumSeqsTooMany", [](ParamsBench& b) { b.numSeqs = 200000000; }, kTilingError,
                  "numSeqs is 200000000; expected 1 <= numSeqs < 200000000"},
        CheckCase{"NumQueriesZero", [](ParamsBench& b) { b.numQueries = 0; }, kTilingError,
                  "numQueries is 0"},
        CheckCase{"NumQueriesMore", [](ParamsBench& b) { b.numQueries = 9; }, kTilingError,
                  "numQueries is 9"},
        CheckCase{"BlockSizeZero", [](ParamsBench& b) { b.blockSize = 0; }, kTilingError,
                  "blockSize is 0; expected at least 1"},
        CheckCase{"BlockSizeNegative", [](ParamsBench& b) { b.blockSize = -16; }, kTilingError,
                  "blockSize is -16"},
        CheckCase{"Shape", [](ParamsBench& b) { b.seqLens.Reshape({9}); }, kTilingError,
                  "seqLens has shape [9]; expected [numSeqs"},
        CheckCase{"DtypeBeforeAttribute",
                  [](ParamsBench& b) {
                      b.numSeqs = 0;
                      b.blockTables.dataType = ACL_INT8;
                  },
                  kParamInvalid, "blockTables"},
        CheckCase{"LayoutBeforeAttribute",
                  [](ParamsBench& b) {
                      b.blockSize = 0;
                      b.slotMapping.strides = {2};
                  },
                  kParamInvalid, "slotMapping"},
        CheckCase{"AttributeBeforeShape",
                  [](ParamsBench& b) {
                      b.blockSize = 0;
                      b.inputTokens.Reshape({3});
                  },
                  kTilingError, "blockSize"},
        CheckCase{"FirstTensorOfTheSignature",
                  [](ParamsBench& b) {
                      b.blockTables.dataType = ACL_INT8;
                      b.inputPositions.format = ACL_FORMAT_NC;
                  },
                  kParamInvalid, "inputPositions"}),
    support::CaseName());

TEST(AdvanceStepCheckTest, NumSeqsJustBelowTheLimitPasses) {
    ParamsBench bench(199999999, 199999998, 16, 1);
    EXPECT_TRUE(Succeeds(CheckAdvanceStep(bench.Params(), Under(Conformance::kStandard))));
}

TEST(AdvanceStepCheckTest, NumQueriesReachesNumSeqsOnlyUnderVllm) {
    ParamsBench bench(8, 8, 16, 4);
    for (const Conformance conformance : {Conformance::kStandard, Conformance::kExact}) {
        EXPECT_TRUE(FailsWith(kTilingError, CheckAdvanceStep(bench.Params(), Under(conformance)),
                              {"numQueries is 8; expected 1 <= numQueries < numSeqs = 8"}));
    }
    EXPECT_TRUE(Succeeds(CheckAdvanceStep(bench.Params(), Under(Conformance::kVllm))));
    ParamsBench more = bench;
    more.numQueries = 9;
    EXPECT_TRUE(FailsWith(kTilingError, CheckAdvanceStep(more.Params(), Under(Conformance::kVllm)),
                          {"numQueries is 9; expected 1 <= numQueries <= numSeqs = 8"}));
}

TEST(AdvanceStepCheckTest, NarrowLengthsAndSlotsPassOnlyUnderVllm) {
    for (auto tensor : {&ParamsBench::seqLens, &ParamsBench::slotMapping}) {
        ParamsBench bench(8, 5, 16, 4);
        (bench.*tensor).dataType = ACL_INT32;
        EXPECT_TRUE(Succeeds(CheckAdvanceStep(bench.Params(), Under(Conformance::kVllm))));
        for (const Conformance conformance : {Conformance::kStandard, Conformance::kExact}) {
            EXPECT_TRUE(FailsWith(kParamInvalid,
                                  CheckAdvanceStep(bench.Params(), Under(conformance)),
                                  {"has dtype ACL_INT32; expected ACL_INT64"}));
        }
    }
}

TEST(AdvanceStepCheckTest, NarrowTablesAndWideRowsPassEverywhere) {
    ParamsBench bench(8, 5, 16, 4);
    bench.blockTables.dataType = ACL_INT32;
    bench.blockTables.strides = {32, 1};
    bench.blockTables.offset = 5;
    for (const Conformance conformance : kAll) {
        EXPECT_TRUE(Succeeds(CheckAdvanceStep(bench.Params(), Under(conformance))));
    }
}

struct ShapeCase {
    const char* name;
    OwnedView ParamsBench::*tensor;
    std::vector<int64_t> dims;
    const char* words;  // empty: the shape is right
};

class AdvanceStepShapeTest : public testing::TestWithParam<ShapeCase> {};

// numSeqs 8, numQueries 5.
TEST_P(AdvanceStepShapeTest, HoldsShapesAgainstTheAttributes) {
    ParamsBench bench(8, 5, 16, 4);
    (bench.*GetParam().tensor).Reshape(GetParam().dims);
    const Status status = CheckAdvanceStep(bench.Params(), Under(Conformance::kStandard));
    EXPECT_STREQ(status.message(), GetParam().words);
    EXPECT_EQ(status.code(), *GetParam().words == '\0' ? 0 : 561002);
}

INSTANTIATE_TEST_SUITE_P(
    Table, AdvanceStepShapeTest,
    testing::Values(
        ShapeCase{"TokensColumn", &ParamsBench::inputTokens, {8, 1}, ""},
        ShapeCase{"PositionsColumn", &ParamsBench::inputPositions, {8, 1}, ""},
        ShapeCase{"LengthsColumn", &ParamsBench::seqLens, {8, 1}, ""},
        ShapeCase{"SlotsColumn", &ParamsBench::slotMapping, {8, 1}, ""},
        ShapeCase{"TablesOneColumn", &ParamsBench::blockTables, {8, 1}, ""},
        ShapeCase{"TablesWide", &ParamsBench::blockTables, {8, 100000}, ""},
        ShapeCase{"TokensShort",
                  &ParamsBench::inputTokens,
                  {7},
                  "inputTokens has shape [7]; expected [numSeqs] = [8]"},
        ShapeCase{"TokensRow",
                  &ParamsBench::inputTokens,
                  {1, 8},
                  "inputTokens has shape [1, 8]; expected [numSeqs] = [8]"},
        ShapeCase{"TokensScalar",
                  &ParamsBench::inputTokens,
                  {},
                  "inputTokens has shape []; expected [numSeqs] = [8]"},
        ShapeCase{"SampledFlat",
                  &ParamsBench::sampledTokenIds,
                  {5},
                  "sampledTokenIds has shape [5]; expected [numQueries, 1] = [5, 1]"},
        ShapeCase{"SampledWide",
                  &ParamsBench::sampledTokenIds,
                  {5, 2},
                  "sampledTokenIds has shape [5, 2]; expected [numQueries, 1] = [5, 1]"},
        ShapeCase{"SampledOfSequences",
                  &ParamsBench::sampledTokenIds,
                  {8, 1},
                  "sampledTokenIds has shape [8, 1]; expected [numQueries, 1] = [5, 1]"},
        ShapeCase{"PositionsLong",
                  &ParamsBench::inputPositions,
                  {9},
                  "inputPositions has shape [9]; expected [numSeqs] = [8]"},
        ShapeCase{"LengthsOfQueries",
                  &ParamsBench::seqLens,
                  {5},
                  "seqLens has shape [5]; expected [numSeqs] = [8]"},
        ShapeCase{"SlotsEmpty",
                  &ParamsBench::slotMapping,
                  {0},
                  "slotMapping has shape [0]; expected [numSeqs] = [8]"},
        ShapeCase{"TablesFlat",
                  &ParamsBench::blockTables,
                  {32},
                  "blockTables has shape [32]; expected [numSeqs, maxBlocks] = [8, >= 1]"},
        ShapeCase{"TablesOfQueries",
                  &ParamsBench::blockTables,
                  {5, 4},
                  "blockTables has shape [5, 4]; expected [numSeqs, maxBlocks] = [8, >= 1]"},
        ShapeCase{"TablesWithoutColumns",
                  &ParamsBench::blockTables,
                  {8, 0},
                  "blockTables has shape [8, 0]; expected [numSeqs, maxBlocks] = [8, >= 1]"},
        ShapeCase{"TablesCube",
                  &ParamsBench::blockTables,
                  {8, 2, 2},
                  "blockTables has shape [8, 2, 2]; expected [numSeqs, maxBlocks] = [8, >= 1]"}),
    support::CaseName());

TEST(AdvanceStepShapeOrderTest, FirstOfTheSignatureIsNamed) {
    ParamsBench bench(8, 5, 16, 4);
    bench.blockTables.Reshape({7, 4});
    bench.seqLens.Reshape({7});
    EXPECT_TRUE(FailsWith(561002, CheckAdvanceStep(bench.Params(), Under(Conformance::kStandard)),
                          {"seqLens"}));
}

}  // namespace
}  // namespace advstep
