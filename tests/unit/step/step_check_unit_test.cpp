// SPDX-License-Identifier: Apache-2.0
// Tests of Step's checks: types, attributes, shapes, their order.

#include "op_host/step/step.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "src/base/dtype.h"

namespace advstep {
namespace {

using namespace ::advance_step::op;

constexpr size_t kTensors = kStepSignature.size();
constexpr size_t kOriSeqLensEncoder = PlaceOf(kStepSignature, "oriSeqLensEncoder");

// Legal arguments with B = 3, S = 4, W = 5, F = 6, L = 7, P = 8; a test breaks one thing.
class StepCheckTest : public testing::Test {
 protected:
    StepCheckTest() {
        for (size_t index = 0; index < kTensors; ++index) {
            SetShape(index, LegalShape(index));
            TensorView& view = views_[index];
            view.dataType = kStepSignature[index].types.list[0];
            view.format = ACL_FORMAT_ND;
            view.itemSize = static_cast<int64_t>(SizeOf(view.dataType));
        }
        params_ = {views_.data(), 2};
    }

    static std::vector<int64_t> LegalShape(size_t index) {
        constexpr int64_t kValues[StepDim::kCount] = {0, 1, 3, 4, 5, 6, 7, 8};
        const Shape& shape = kStepSignature[index].shapes.first;
        std::vector<int64_t> dims;
        for (int axis = 0; axis < shape.rank; ++axis) {
            dims.push_back(kValues[shape.dims[axis]]);
        }
        return dims;
    }

    void SetShape(size_t index, const std::vector<int64_t>& shape) {
        shapes_[index] = shape;
        strides_[index].assign(shape.size(), 1);
        for (size_t axis = shape.size(); axis-- > 1;) {
            strides_[index][axis - 1] = strides_[index][axis] * shape[axis];
        }
        TensorView& view = views_[index];
        view.rank = static_cast<int64_t>(shape.size());
        view.dims = shapes_[index].data();
        view.strides = strides_[index].data();
    }

    void ExpectRefused(int32_t code, const std::string& words) {
        StepDims dims;
        const op::Status status = CheckStep(params_, &dims);
        EXPECT_EQ(status.code(), code);
        EXPECT_NE(std::string(status.message()).find(words), std::string::npos) << status.message();
    }

    std::array<TensorView, kTensors> views_;
    StepParams params_;
    std::array<std::vector<int64_t>, kTensors> shapes_;
    std::array<std::vector<int64_t>, kTensors> strides_;
};

TEST_F(StepCheckTest, ReadsTheDimsOffLegalArguments) {
    StepDims dims;
    EXPECT_TRUE(CheckStep(params_, &dims).ok());
    EXPECT_EQ(dims.batch, 3);
    EXPECT_EQ(dims.slots, 4);
    EXPECT_EQ(dims.tableWidth, 5);
    EXPECT_EQ(dims.freeCapacity, 6);
    EXPECT_EQ(dims.inputWidth, 7);
    EXPECT_EQ(dims.preWidth, 8);
}

TEST_F(StepCheckTest, EveryTensorHasItsTypeFormatAndShape) {
    for (size_t index = 0; index < kTensors; ++index) {
        const std::string name = kStepSignature[index].name;
        TensorView& view = views_[index];
        view.dataType = ACL_FLOAT;
        ExpectRefused(161002, name + " has dtype ACL_FLOAT");
        view.dataType = kStepSignature[index].types.list[0];
        view.format = ACL_FORMAT_NCHW;
        ExpectRefused(161002, name + " has format ACL_FORMAT_NCHW");
        view.format = ACL_FORMAT_ND;
        SetShape(index, {2, 2, 2});
        ExpectRefused(561002, "has shape");
        SetShape(index, LegalShape(index));
    }
}

TEST_F(StepCheckTest, TypesComeBeforeAttributesAndShapes) {
    params_.blockSize = 0;
    ExpectRefused(561002, "blockSize is 0; expected at least 1");
    views_.back().dataType = ACL_INT32;
    ExpectRefused(161002, "firstTokenIds has dtype ACL_INT32; expected ACL_INT64");
}

TEST_F(StepCheckTest, TheBatchIsNoLargerThanTheSlots) {
    SetShape(StepTensor::kSeqLensThisTime, {5});
    ExpectRefused(561002, "B = 5 rows and stopFlags S = 4");
    SetShape(StepTensor::kSeqLensThisTime, {0});
    StepDims dims;
    EXPECT_TRUE(CheckStep(params_, &dims).ok());
}

TEST_F(StepCheckTest, ColumnsAndAnEmptyFreeListAreLegal) {
    SetShape(StepTensor::kFreeList, {0});
    SetShape(StepTensor::kSeqLensThisTime, {3, 1});
    SetShape(kOriSeqLensEncoder, {4, 1});
    StepDims dims;
    EXPECT_TRUE(CheckStep(params_, &dims).ok());
    SetShape(kOriSeqLensEncoder, {4, 2});
    ExpectRefused(561002, "oriSeqLensEncoder has shape [4, 2]; expected [S] = [4]");
}

}  // namespace
}  // namespace advstep
