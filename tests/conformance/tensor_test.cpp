// SPDX-License-Identifier: Apache-2.0
// aclTensor: creation, description, getters whose arrays the caller deletes.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "aclnn/acl_meta.h"
#include "support/status.h"
#include "support/tensor.h"

namespace {

using support::IsError;
using support::IsOk;
using support::Tensor;

using Dims = std::vector<int64_t>;
using DimsGetter = aclnnStatus (*)(const aclTensor*, int64_t**, uint64_t*);

// What a getter of an array returns; frees it as a caller has to.
Dims Get(DimsGetter getter, const aclTensor* tensor) {
    int64_t* values = nullptr;
    uint64_t count = 77;
    EXPECT_TRUE(IsOk(getter(tensor, &values, &count)));
    const std::unique_ptr<int64_t[]> owned(values);
    return count == 77 ? Dims{-77} : Dims(values, values + count);
}

aclTensor* Create(const Dims& shape, const Dims& strides, const Dims& storage, int64_t offset = 0,
                  aclDataType dtype = ACL_INT64, aclFormat format = ACL_FORMAT_ND,
                  void* data = nullptr) {
    return aclCreateTensor(shape.data(), shape.size(), dtype,
                           strides.empty() ? nullptr : strides.data(), offset, format,
                           storage.data(), storage.size(), data);
}

TEST(TensorTest, KeepsItsDescription) {
    int data = 0;
    const Dims shape{2, 3}, strides{8, 1}, storage{4, 8};
    aclTensor* tensor = Create(shape, strides, storage, 5, ACL_INT32, ACL_FORMAT_NCHW, &data);
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(Get(aclGetViewShape, tensor), shape);
    EXPECT_EQ(Get(aclGetViewStrides, tensor), strides);
    EXPECT_EQ(Get(aclGetStorageShape, tensor), storage);
    int64_t offset = 0;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    aclDataType dtype = ACL_DT_UNDEFINED;
    void* address = nullptr;
    EXPECT_TRUE(IsOk(aclGetViewOffset(tensor, &offset)));
    EXPECT_TRUE(IsOk(aclGetFormat(tensor, &format)));
    EXPECT_TRUE(IsOk(aclGetDataType(tensor, &dtype)));
    EXPECT_TRUE(IsOk(aclGetRawTensorAddr(tensor, &address)));
    EXPECT_EQ(offset, 5);
    EXPECT_EQ(format, ACL_FORMAT_NCHW);
    EXPECT_EQ(dtype, ACL_INT32);
    EXPECT_EQ(address, &data);
    EXPECT_TRUE(IsOk(aclDestroyTensor(tensor)));
}

TEST(TensorTest, CopiesTheArrays) {
    Dims shape{2, 3}, strides{8, 1}, storage{16};
    aclTensor* tensor = Create(shape, strides, storage);
    shape.assign(2, -1);
    strides.assign(2, -1);
    storage.assign(1, -1);
    EXPECT_EQ(Get(aclGetViewShape, tensor), (Dims{2, 3}));
    EXPECT_EQ(Get(aclGetViewStrides, tensor), (Dims{8, 1}));
    EXPECT_EQ(Get(aclGetStorageShape, tensor), (Dims{16}));
    EXPECT_TRUE(IsOk(aclDestroyTensor(tensor)));
}

TEST(TensorTest, NoStridesMeansContiguous) {
    const struct {
        Dims shape, strides;
    } cases[] = {{{7}, {1}},
                 {{2, 3}, {3, 1}},
                 {{2, 3, 4}, {12, 4, 1}},
                 {{5, 1}, {1, 1}},
                 {{2, 2, 2, 2, 2, 2, 2, 2, 2}, {256, 128, 64, 32, 16, 8, 4, 2, 1}}};
    for (const auto& row : cases) {
        aclTensor* tensor = Create(row.shape, {}, {1024});
        EXPECT_EQ(Get(aclGetViewStrides, tensor), row.strides);
        EXPECT_EQ(Get(aclGetViewShape, tensor), row.shape);
        EXPECT_TRUE(IsOk(aclDestroyTensor(tensor)));
    }
}

TEST(TensorTest, ScalarHasNoDimensions) {
    aclTensor* tensor =
        aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(Get(aclGetViewShape, tensor), Dims{});
    EXPECT_EQ(Get(aclGetViewStrides, tensor), Dims{});
    EXPECT_EQ(Get(aclGetStorageShape, tensor), Dims{});
    EXPECT_TRUE(IsOk(aclDestroyTensor(tensor)));
}

TEST(TensorTest, NullShapesNeedACountOfZero) {
    const Dims shape{2};
    EXPECT_EQ(
        aclCreateTensor(nullptr, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape.data(), 1, nullptr),
        nullptr);
    EXPECT_EQ(
        aclCreateTensor(shape.data(), 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, nullptr, 1, nullptr),
        nullptr);
}

TEST(TensorTest, AnyDescriptionIsTaken) {
    const Dims odd{-5, 0, INT64_MAX};
    aclTensor* tensor = Create(odd, odd, odd, -9, ACL_STRING, ACL_FORMAT_FRACTAL_NZ);
    ASSERT_NE(tensor, nullptr) << "operators check what they get";
    EXPECT_EQ(Get(aclGetViewShape, tensor), odd);
    EXPECT_TRUE(IsOk(aclDestroyTensor(tensor)));
    tensor = Create({INT64_MAX, INT64_MAX, 4}, {}, {INT64_MAX, INT64_MAX});
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(Get(aclGetViewShape, tensor), (Dims{INT64_MAX, INT64_MAX, 4}));
    EXPECT_TRUE(IsOk(aclDestroyTensor(tensor)));
}

TEST(TensorTest, DestroyingNullIsFine) { EXPECT_TRUE(IsOk(aclDestroyTensor(nullptr))); }

TEST(TensorTest, GettersRefuseNull) {
    const Tensor tensor({{2, 3}});
    int64_t* values = nullptr;
    uint64_t count = 7;
    for (const DimsGetter getter : {aclGetViewShape, aclGetStorageShape, aclGetViewStrides}) {
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, getter(nullptr, &values, &count), {"tensor"}));
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, getter(tensor.Get(), nullptr, &count)));
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, getter(tensor.Get(), &values, nullptr)));
    }
    EXPECT_EQ(values, nullptr);
    EXPECT_EQ(count, 7U);
    int64_t offset = 0;
    aclFormat format = ACL_FORMAT_ND;
    aclDataType dtype = ACL_INT64;
    void* address = nullptr;
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetViewOffset(nullptr, &offset), {"tensor"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetViewOffset(tensor.Get(), nullptr)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetFormat(nullptr, &format), {"tensor"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetFormat(tensor.Get(), nullptr)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetDataType(nullptr, &dtype), {"tensor"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetDataType(tensor.Get(), nullptr)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetRawTensorAddr(nullptr, &address)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetRawTensorAddr(tensor.Get(), nullptr)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclSetRawTensorAddr(nullptr, &offset)));
}

TEST(TensorTest, RawAddressCanChange) {
    int first = 0, second = 0;
    const Tensor tensor({{4}, &first});
    void* address = nullptr;
    for (void* const next :
         {static_cast<void*>(&second), static_cast<void*>(nullptr), static_cast<void*>(&first)}) {
        EXPECT_TRUE(IsOk(aclSetRawTensorAddr(tensor.Get(), next)));
        EXPECT_TRUE(IsOk(aclGetRawTensorAddr(tensor.Get(), &address)));
        EXPECT_EQ(address, next);
    }
}

TEST(TensorTest, InitGivesANewDescription) {
    int data = 0;
    const Tensor tensor({{2, 3}});
    const Dims shape{4, 5, 6}, strides{60, 10, 1}, storage{400};
    ASSERT_TRUE(IsOk(aclInitTensor(tensor.Get(), shape.data(), 3, ACL_INT32, strides.data(), 9,
                                   ACL_FORMAT_NCL, storage.data(), 1, &data)));
    EXPECT_EQ(Get(aclGetViewShape, tensor.Get()), shape);
    EXPECT_EQ(Get(aclGetViewStrides, tensor.Get()), strides);
    EXPECT_EQ(Get(aclGetStorageShape, tensor.Get()), storage);
    int64_t offset = 0;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    aclDataType dtype = ACL_DT_UNDEFINED;
    void* address = nullptr;
    EXPECT_TRUE(IsOk(aclGetViewOffset(tensor.Get(), &offset)));
    EXPECT_TRUE(IsOk(aclGetFormat(tensor.Get(), &format)));
    EXPECT_TRUE(IsOk(aclGetDataType(tensor.Get(), &dtype)));
    EXPECT_TRUE(IsOk(aclGetRawTensorAddr(tensor.Get(), &address)));
    EXPECT_EQ(offset, 9);
    EXPECT_EQ(format, ACL_FORMAT_NCL);
    EXPECT_EQ(dtype, ACL_INT32);
    EXPECT_EQ(address, &data);
    ASSERT_TRUE(IsOk(aclInitTensor(tensor.Get(), shape.data(), 3, ACL_INT32, nullptr, 0,
                                   ACL_FORMAT_ND, storage.data(), 1, nullptr)));
    EXPECT_EQ(Get(aclGetViewStrides, tensor.Get()), (Dims{30, 6, 1}));
}

TEST(TensorTest, InitRefusesNull) {
    const Tensor tensor({{2, 3}});
    const Dims shape{4};
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR,
                        aclInitTensor(nullptr, shape.data(), 1, ACL_INT64, nullptr, 0,
                                      ACL_FORMAT_ND, shape.data(), 1, nullptr),
                        {"aclInitTensor: ", "tensor"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR,
                        aclInitTensor(tensor.Get(), nullptr, 1, ACL_INT64, nullptr, 0,
                                      ACL_FORMAT_ND, shape.data(), 1, nullptr),
                        {"aclInitTensor: ", "viewDims"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR,
                        aclInitTensor(tensor.Get(), shape.data(), 1, ACL_INT64, nullptr, 0,
                                      ACL_FORMAT_ND, nullptr, 1, nullptr),
                        {"aclInitTensor: ", "storageDims"}));
    EXPECT_EQ(Get(aclGetViewShape, tensor.Get()), (Dims{2, 3})) << "unchanged";
}

}  // namespace
