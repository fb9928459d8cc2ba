// SPDX-License-Identifier: Apache-2.0
// Tests of tensors: descriptions, views, addresses, refusals.

#include "src/aclnn/tensor.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <vector>

#include "support/status.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using support::IsError;
using support::IsOk;
using unit::FailsWith;
using unit::Succeeds;

using Dims = std::vector<int64_t>;

class TensorUnitTest : public testing::Test {
 protected:
    ~TensorUnitTest() override {
        if (tensor_ != nullptr) {
            EXPECT_TRUE(IsOk(aclDestroyTensor(tensor_)));
        }
    }

    // Strides empty: NULL.
    void Create(const Dims& dims, const Dims& strides, const Dims& storage) {
        tensor_ = aclCreateTensor(dims.data(), dims.size(), ACL_INT32,
                                  strides.empty() ? nullptr : strides.data(), 3, ACL_FORMAT_NCHW,
                                  storage.data(), storage.size(), &data_);
        ASSERT_NE(tensor_, nullptr);
    }

    void ExpectHolds(const Dims& dims, const Dims& strides, const Dims& storage) {
        EXPECT_EQ(Get(&aclGetViewShape), dims);
        EXPECT_EQ(Get(&aclGetViewStrides), strides);
        EXPECT_EQ(Get(&aclGetStorageShape), storage);
        TensorView view;
        ASSERT_TRUE(Succeeds(ViewOf(tensor_, "seqLens", &view)));
        EXPECT_EQ(Dims(view.dims, view.dims + view.rank), dims);
        EXPECT_EQ(Dims(view.strides, view.strides + view.rank), strides);
    }

    Dims Get(aclnnStatus (*get)(const aclTensor*, int64_t**, uint64_t*)) {
        int64_t* values = nullptr;
        uint64_t count = 0;
        EXPECT_TRUE(IsOk(get(tensor_, &values, &count)));
        const std::unique_ptr<int64_t[]> owner(values);
        return Dims(values, values + count);
    }

    int32_t data_ = 0;
    aclTensor* tensor_ = nullptr;
};

TEST_F(TensorUnitTest, KeepsItsDescription) {
    Create({2, 3}, {8, 1}, {64});
    ExpectHolds({2, 3}, {8, 1}, {64});
    int64_t offset = 0;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    aclDataType dataType = ACL_DT_UNDEFINED;
    void* address = nullptr;
    EXPECT_TRUE(IsOk(aclGetViewOffset(tensor_, &offset)));
    EXPECT_TRUE(IsOk(aclGetFormat(tensor_, &format)));
    EXPECT_TRUE(IsOk(aclGetDataType(tensor_, &dataType)));
    EXPECT_TRUE(IsOk(aclGetRawTensorAddr(tensor_, &address)));
    EXPECT_EQ(offset, 3);
    EXPECT_EQ(format, ACL_FORMAT_NCHW);
    EXPECT_EQ(dataType, ACL_INT32);
    EXPECT_EQ(address, &data_);
}

TEST_F(TensorUnitTest, CopiesTheArrays) {
    Dims dims{2, 3};
    Dims strides{8, 1};
    Dims storage{64};
    Create(dims, strides, storage);
    dims[0] = strides[0] = storage[0] = 99;
    ExpectHolds({2, 3}, {8, 1}, {64});
}

TEST_F(TensorUnitTest, WithoutStridesIsContiguous) {
    Create({2, 3, 5}, {}, {30});
    ExpectHolds({2, 3, 5}, {15, 5, 1}, {30});
}

TEST_F(TensorUnitTest, ScalarHasNoDims) {
    tensor_ =
        aclCreateTensor(nullptr, 0, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
    ASSERT_NE(tensor_, nullptr);
    ExpectHolds({}, {}, {});
}

TEST_F(TensorUnitTest, ManyAxesAndMoreFit) {
    for (const size_t rank : {7U, 8U, 9U, 30U}) {
        for (const size_t storageRank : {0U, 8U, 9U}) {
            Dims dims(rank, 1);
            Dims strides(rank);
            Dims storage(storageRank);
            std::iota(dims.begin(), dims.end(), 2);
            std::iota(strides.begin(), strides.end(), 100);
            std::iota(storage.begin(), storage.end(), 200);
            Create(dims, strides, storage);
            ExpectHolds(dims, strides, storage);
            EXPECT_TRUE(IsOk(aclDestroyTensor(std::exchange(tensor_, nullptr))));
        }
    }
}

TEST_F(TensorUnitTest, NullDimsWithACountAreRefused) {
    const int64_t dim = 4;
    EXPECT_EQ(aclCreateTensor(nullptr, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, &dim, 1, nullptr),
              nullptr);
    EXPECT_NE(support::TakeMessage().find("aclCreateTensor: viewDims is null"), std::string::npos);
    EXPECT_EQ(aclCreateTensor(&dim, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, nullptr, 1, nullptr),
              nullptr);
    EXPECT_NE(support::TakeMessage().find("storageDims is null"), std::string::npos);
}

TEST_F(TensorUnitTest, ViewCarriesEverythingAnOperatorNeeds) {
    Create({2, 3}, {8, 1}, {64});
    TensorView view;
    ASSERT_TRUE(Succeeds(ViewOf(tensor_, "seqLens", &view)));
    EXPECT_EQ(view.dataType, ACL_INT32);
    EXPECT_EQ(view.format, ACL_FORMAT_NCHW);
    EXPECT_EQ(view.offset, 3);
    EXPECT_EQ(view.itemSize, 4);
    EXPECT_EQ(view.data, reinterpret_cast<uint8_t*>(&data_));
}

TEST_F(TensorUnitTest, NoViewOfNullOrDestroyedTensors) {
    TensorView view;
    EXPECT_TRUE(
        FailsWith(ACLNN_ERR_PARAM_NULLPTR, ViewOf(nullptr, "seqLens", &view), {"seqLens is null"}));
    Create({2}, {}, {2});
    aclTensor* const destroyed = std::exchange(tensor_, nullptr);
    EXPECT_TRUE(IsOk(aclDestroyTensor(destroyed)));
    EXPECT_TRUE(FailsWith(ACLNN_ERR_PARAM_INVALID, ViewOf(destroyed, "seqLens", &view),
                          {"seqLens has been destroyed"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclDestroyTensor(destroyed)));
    EXPECT_EQ(view.rank, 0);
}

TEST_F(TensorUnitTest, DestroyingNothingSucceeds) { EXPECT_TRUE(IsOk(aclDestroyTensor(nullptr))); }

TEST_F(TensorUnitTest, InitDescribesItAnew) {
    Create(Dims(12, 1), {}, {64});
    const Dims dims{4, 5};
    EXPECT_TRUE(IsOk(aclInitTensor(tensor_, dims.data(), 2, ACL_INT64, nullptr, 0, ACL_FORMAT_ND,
                                   dims.data(), 2, nullptr)));
    ExpectHolds({4, 5}, {5, 1}, {4, 5});
    TensorView view;
    ASSERT_TRUE(Succeeds(ViewOf(tensor_, "seqLens", &view)));
    EXPECT_EQ(view.itemSize, 8);
    EXPECT_EQ(view.data, nullptr);
}

TEST_F(TensorUnitTest, RefusedInitChangesNothing) {
    Create({2, 3}, {8, 1}, {64});
    const int64_t dim = 4;
    EXPECT_TRUE(IsError(
        ACLNN_ERR_PARAM_NULLPTR,
        aclInitTensor(tensor_, &dim, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, nullptr, 1, nullptr),
        {"storageDims"}));
    ExpectHolds({2, 3}, {8, 1}, {64});
    EXPECT_TRUE(IsError(
        ACLNN_ERR_PARAM_NULLPTR,
        aclInitTensor(nullptr, &dim, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, &dim, 1, nullptr),
        {"tensor is null"}));
}

TEST_F(TensorUnitTest, AddressCanBeChanged) {
    Create({2}, {}, {2});
    int32_t other = 0;
    void* address = nullptr;
    EXPECT_TRUE(IsOk(aclSetRawTensorAddr(tensor_, &other)));
    EXPECT_TRUE(IsOk(aclGetRawTensorAddr(tensor_, &address)));
    EXPECT_EQ(address, &other);
    EXPECT_TRUE(IsOk(aclSetRawTensorAddr(tensor_, nullptr)));
    EXPECT_TRUE(IsOk(aclGetRawTensorAddr(tensor_, &address)));
    EXPECT_EQ(address, nullptr);
}

TEST_F(TensorUnitTest, GettersRefuseNulls) {
    Create({2}, {}, {2});
    int64_t* values = nullptr;
    uint64_t count = 77;
    for (auto* const get : {&aclGetViewShape, &aclGetStorageShape, &aclGetViewStrides}) {
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, get(nullptr, &values, &count)));
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, get(tensor_, nullptr, &count)));
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, get(tensor_, &values, nullptr)));
    }
    EXPECT_EQ(values, nullptr);
    EXPECT_EQ(count, 77U);
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetViewOffset(tensor_, nullptr)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetFormat(tensor_, nullptr)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetDataType(tensor_, nullptr)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetRawTensorAddr(tensor_, nullptr)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclSetRawTensorAddr(nullptr, nullptr)));
}

}  // namespace
}  // namespace advstep
