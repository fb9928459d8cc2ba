#include "op_host/advance_step/advance_step_infer_shape.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/table.h"
#include "unit/op_host/params_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::OwnedView;
using unit::ParamsBench;

struct ShapeCase {
    const char* name;
    OwnedView ParamsBench::*tensor;
    std::vector<int64_t> dims;
    const char* words;  // empty: the shape is right
};

class AdvanceStepInferShapeTest : public testing::TestWithParam<ShapeCase> {};

// numSeqs 8, numQueries 5.
TEST_P(AdvanceStepInferShapeTest, HoldsShapesAgainstTheAttributes) {
    ParamsBench bench(8, 5, 16, 4);
    (bench.*GetParam().tensor).Reshape(GetParam().dims);
    const Status status = CheckAdvanceStepShapes(bench.Params());
    EXPECT_EQ(status.message(), GetParam().words);
    EXPECT_EQ(status.code(), *GetParam().words == '\0' ? 0 : 561002);
}

INSTANTIATE_TEST_SUITE_P(
    Table, AdvanceStepInferShapeTest,
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

TEST(AdvanceStepInferShapeOrderTest, FirstOfTheSignatureIsNamed) {
    ParamsBench bench(8, 5, 16, 4);
    bench.blockTables.Reshape({7, 4});
    bench.seqLens.Reshape({7});
    EXPECT_TRUE(unit::FailsWith(561002, CheckAdvanceStepShapes(bench.Params()), {"seqLens"}));
}

}  // namespace
}  // namespace advstep
