#include "op_host/step/step_check.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "src/base/dtype.h"

namespace advstep {
namespace {

// Legal arguments with B = 3, S = 4, W = 5, F = 6, L = 7, P = 8; a test breaks one thing.
class StepCheckTest : public testing::Test {
 protected:
    StepCheckTest() {
        for (size_t index = 0; index < kStepTensors; ++index) {
            SetShape(index, ShapeOf(kStepSignature[index].shape));
            TensorView& view = params_.tensors[index];
            view.dataType = kStepSignature[index].dataType;
            view.format = ACL_FORMAT_ND;
            view.itemSize = static_cast<int64_t>(SizeOf(view.dataType));
        }
        params_.blockSize = 2;
    }

    static std::vector<int64_t> ShapeOf(StepShape shape) {
        switch (shape) {
            case StepShape::kSlots:
                return {4};
            case StepShape::kBatch:
                return {3};
            case StepShape::kScalar:
                return {1};
            case StepShape::kTable:
                return {4, 5};
            case StepShape::kFree:
                return {6};
            case StepShape::kInput:
                return {4, 7};
            case StepShape::kPre:
                return {4, 8};
        }
        return {};
    }

    void SetShape(size_t index, const std::vector<int64_t>& shape) {
        shapes_[index] = shape;
        strides_[index].assign(shape.size(), 1);
        for (size_t axis = shape.size(); axis-- > 1;) {
            strides_[index][axis - 1] = strides_[index][axis] * shape[axis];
        }
        TensorView& view = params_.tensors[index];
        view.rank = static_cast<int64_t>(shape.size());
        view.dims = shapes_[index].data();
        view.strides = strides_[index].data();
    }

    void ExpectRefused(int32_t code, const std::string& words) {
        StepDims dims;
        const Status status = CheckStep(params_, &dims);
        EXPECT_EQ(status.code(), code);
        EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
    }

    StepParams params_;
    std::array<std::vector<int64_t>, kStepTensors> shapes_;
    std::array<std::vector<int64_t>, kStepTensors> strides_;
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
    for (size_t index = 0; index < kStepTensors; ++index) {
        const std::string name = kStepSignature[index].name;
        TensorView& view = params_.tensors[index];
        view.dataType = ACL_FLOAT;
        ExpectRefused(161002, name + " has dtype ACL_FLOAT");
        view.dataType = kStepSignature[index].dataType;
        view.format = ACL_FORMAT_NCHW;
        ExpectRefused(161002, name + " has format ACL_FORMAT_NCHW");
        view.format = ACL_FORMAT_ND;
        SetShape(index, {2, 2, 2});
        ExpectRefused(561002, "has shape");
        SetShape(index, ShapeOf(kStepSignature[index].shape));
    }
}

TEST_F(StepCheckTest, TypesComeBeforeAttributesAndShapes) {
    params_.blockSize = 0;
    ExpectRefused(561002, "blockSize is 0; expected at least 1");
    params_.tensors[21].dataType = ACL_INT32;
    ExpectRefused(161002, "firstTokenIds has dtype ACL_INT32; expected ACL_INT64");
}

TEST_F(StepCheckTest, TheBatchIsNoLargerThanTheSlots) {
    SetShape(kSeqLensThisTime, {5});
    ExpectRefused(561002, "B = 5 rows and stopFlags S = 4");
    SetShape(kSeqLensThisTime, {0});
    StepDims dims;
    EXPECT_TRUE(CheckStep(params_, &dims).ok());
}

TEST_F(StepCheckTest, ColumnsAndAnEmptyFreeListAreLegal) {
    SetShape(kFreeList, {0});
    SetShape(kSeqLensThisTime, {3, 1});
    SetShape(2, {4, 1});
    StepDims dims;
    EXPECT_TRUE(CheckStep(params_, &dims).ok());
    SetShape(2, {4, 2});
    ExpectRefused(561002, "oriSeqLensEncoder has shape [4, 2]; expected [S] = [4]");
}

}  // namespace
}  // namespace advstep
