// SPDX-License-Identifier: Apache-2.0
// Conformance exact takes and refuses the shapes and block sizes that a real device's tiling does.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "conformance/plan_cases.h"
#include "support/advance_step_v2_batch.h"
#include "support/batches.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace device_shape {
namespace {

using conformance::Arguments;
using conformance::Capital;
using conformance::Expect;
using conformance::kInvalid;
using conformance::kTiling;
using conformance::PlanCase;
using namespace support;

constexpr int kVectorCores = 40;

class DeviceShapeTest : public support::DeviceTest, public testing::WithParamInterface<PlanCase> {
 protected:
    void SetUp() override {
        DeviceTest::SetUp();
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", "exact"}}));
    }
};

TEST_P(DeviceShapeTest, InPhaseOne) { Expect(GetParam()); }

// Dim 0 is looked at, and of sampledTokenIds the whole shape.
std::vector<PlanCase> DeviceCases() {
    std::vector<PlanCase> cases;
    const auto add = [&cases](const std::string& name, int code, size_t tensor,
                              std::vector<int64_t> shape) {
        const std::string part = code == ACLNN_SUCCESS ? "" : support::kTensorNames[tensor];
        cases.push_back(
            {name + Capital(tensor), code, part, [=](Arguments& a) { a[tensor].shape = shape; }});
    };
    for (const size_t i : {support::kInputTokens, support::kInputPositions, support::kSeqLens,
                           support::kSlotMapping, support::kBlockTables}) {
        add("Scalar", kTiling, i, {});
        add("OneMore", kTiling, i, {5});
        add("OneLess", kTiling, i, {3, 3});
        add("NoElement", kTiling, i, {4, 0});
        add("NoElementLater", kTiling, i, {4, 2, 0});
        add("Rank1", ACLNN_SUCCESS, i, {4});
        add("Column", ACLNN_SUCCESS, i, {4, 1});
        add("Matrix", ACLNN_SUCCESS, i, {4, 3});
        add("Rank3", ACLNN_SUCCESS, i, {4, 3, 2});
        add("Rank4", ACLNN_SUCCESS, i, {4, 1, 1, 1});
    }
    add("Rank1", kTiling, support::kSampledTokenIds, {2});
    add("TwoColumns", kTiling, support::kSampledTokenIds, {2, 2});
    add("Rank3", kTiling, support::kSampledTokenIds, {2, 1, 1});
    add("OneMore", kTiling, support::kSampledTokenIds, {3, 1});
    return cases;
}

INSTANTIATE_TEST_SUITE_P(Shape, DeviceShapeTest, testing::ValuesIn(DeviceCases()),
                         support::CaseName());

class DeviceRunTest : public support::DeviceTest {
 protected:
    // AdvanceStep with a table of this shape.
    static OpBatch MakeBatch(const reference::AdvanceStepData& data,
                             const std::vector<int64_t>& tableShape) {
        std::vector<OpTensor> tensors = support::AdvanceStepTensors(data, {});
        tensors[support::kBlockTables].shape = tableShape;
        return OpBatch(
            tensors,
            [&data](const OpBatch::Tensors& t, uint64_t* size, aclOpExecutor** executor) {
                return aclnnAdvanceStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5],
                                                        data.numSeqs, data.numQueries,
                                                        data.blockSize, size, executor);
            },
            &aclnnAdvanceStep);
    }
    static std::vector<std::vector<int64_t>> ValuesOf(const reference::AdvanceStepData& data) {
        std::vector<std::vector<int64_t>> values;
        for (const auto* tensor : data.Tensors()) {
            values.push_back(*tensor);
        }
        return values;
    }
    void RestartAs(const char* conformance) {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
    }
};

TEST_F(DeviceRunTest, ATableOfAnyRankIsReadFlat) {
    for (const int64_t columns : {1, 6}) {
        const auto data = support::MakeBatch(50, 47, 8, columns, 77 + columns);
        const auto after = support::AdvancedExactly(data, kVectorCores);
        std::vector<std::vector<int64_t>> shapes = {{50, columns, 1}, {50, 1, columns}};
        shapes.push_back(columns == 1 ? std::vector<int64_t>{50} : std::vector<int64_t>{50, 2, 3});
        for (const std::vector<int64_t>& shape : shapes) {
            SCOPED_TRACE(testing::PrintToString(shape));
            RestartAs("exact");
            OpBatch batch = MakeBatch(data, shape);
            EXPECT_EQ(batch.Run(nullptr), ACL_SUCCESS);
            EXPECT_TRUE(batch.Holds(ValuesOf(after)));
            for (const char* conformance : {"standard", "vllm"}) {
                RestartAs(conformance);
                OpBatch refused = MakeBatch(data, shape);
                EXPECT_TRUE(IsError(kTiling, refused.Plan(), {"blockTables has shape"}));
            }
        }
    }
}

// The last element of a table without gaps is the limit, not that of a matrix.
TEST_F(DeviceRunTest, TheEndOfAFlatTableIsChecked) {
    RestartAs("exact");
    auto data = support::MakeBatch(4, 2, 8, 6, 5);
    data.seqLens[1] = 8 * 24 - 1;
    OpBatch good = MakeBatch(data, {4, 2, 3});
    EXPECT_EQ(good.Run(nullptr), ACL_SUCCESS);
    data.seqLens[1] = 8 * 24;
    OpBatch bad = MakeBatch(data, {4, 2, 3});
    EXPECT_EQ(bad.Run(nullptr), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_TRUE(bad.Holds(ValuesOf(data)));
}

TEST_F(DeviceRunTest, SpeculativeRowsAreFlat) {
    const auto data = support::MakeV2Data(4, 2, 8, 3, 9);
    support::OpLayout layout;
    layout.columns = true;
    RestartAs("exact");
    EXPECT_TRUE(IsError(kTiling, support::MakeV2Batch(data, layout).Plan(),
                        {"inputTokens has shape [4, 3]; expected [numSeqs * (k + 1)] = [12]"}));
    for (const char* conformance : {"standard", "vllm"}) {
        RestartAs(conformance);
        EXPECT_EQ(support::MakeV2Batch(data, layout).Run(nullptr), ACL_SUCCESS);
    }
}

TEST_F(DeviceRunTest, SpeculativeBlockSizesHave32Bits) {
    const auto data = support::MakeV2Data(4, 2, 16, 3, 10);
    auto after = data;
    ASSERT_FALSE(reference::AdvanceStepV2(after, true).has_value());
    auto wide = data;
    wide.blockSize = (int64_t{5} << 32) + 16;
    RestartAs("exact");
    OpBatch batch = support::MakeV2Batch(wide);
    EXPECT_EQ(batch.Run(nullptr), ACL_SUCCESS);
    EXPECT_TRUE(batch.HoldsAt(support::kSlotMapping, after.slotMapping));
    EXPECT_TRUE(batch.HoldsAt(support::kInputPositions, after.inputPositions));
    for (const auto& [blockSize, low] :
         {std::pair{int64_t{1} << 32, "0"}, std::pair{int64_t{1} << 31, "-2147483648"},
          std::pair{INT64_MAX, "-1"}}) {
        wide.blockSize = blockSize;
        EXPECT_TRUE(IsError(kInvalid, support::MakeV2Batch(wide).Plan(),
                            {"blockSize is " + std::to_string(blockSize), "low 32 bits", low}));
    }
    wide.blockSize = INT32_MAX;
    EXPECT_TRUE(IsOk(support::MakeV2Batch(wide).Plan()));
}

// The detector compares with what the device makes of the block size.
TEST_F(DeviceRunTest, TheDetectorSeesTheBlockSizeOfTheDevice) {
    auto data = support::MakeV2Data(1, 1, 16, 3, 11);
    data.inputPositions = {20, 21};
    data.acceptedNum = {0};
    data.blockTables = {0, 1, 2};
    for (const int64_t blockSize : {(int64_t{1} << 32) + 16, int64_t{1} << 32}) {
        ASSERT_NO_FATAL_FAILURE(Restart(
            {{"ADVANCE_STEP_CONFORMANCE", "standard"}, {"ADVANCE_STEP_ON_DIVERGENCE", "error"}}));
        data.blockSize = blockSize;
        OpBatch batch = support::MakeV2Batch(data);
        EXPECT_EQ(batch.Run(nullptr),
                  blockSize == int64_t{1} << 32 ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : ACL_SUCCESS);
    }
}

}  // namespace
}  // namespace device_shape
