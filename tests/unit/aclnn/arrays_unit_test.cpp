// SPDX-License-Identifier: Apache-2.0
// Tests of arrays, lists and scalars: values, ownership, refusals.

#include <gtest/gtest.h>

#include <cstdint>

#include "aclnn/acl_meta.h"
#include "support/status.h"
#include "support/tensor.h"

namespace {

using support::IsError;
using support::IsOk;

// Create, size and destroy of one kind of array.
template <typename Array, typename T>
void ExpectArrayOf(Array* (*create)(const T*, uint64_t), const T* values, uint64_t count,
                   aclnnStatus (*getSize)(const Array*, uint64_t*),
                   aclnnStatus (*destroy)(const Array*)) {
    uint64_t size = 77;
    EXPECT_EQ(create(nullptr, 2), nullptr);
    EXPECT_NE(support::TakeMessage().find("value is null with size 2"), std::string::npos);
    Array* const empty = create(nullptr, 0);
    ASSERT_NE(empty, nullptr);
    EXPECT_TRUE(IsOk(getSize(empty, &size)));
    EXPECT_EQ(size, 0U);
    EXPECT_TRUE(IsOk(destroy(empty)));
    Array* const array = create(values, count);
    ASSERT_NE(array, nullptr);
    EXPECT_TRUE(IsOk(getSize(array, &size)));
    EXPECT_EQ(size, count);
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, getSize(array, nullptr), {"size is null"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, getSize(nullptr, &size), {" is null"}));
    EXPECT_TRUE(IsOk(destroy(array)));
    EXPECT_TRUE(IsOk(destroy(nullptr)));
}

TEST(ArraysTest, OfNumbers) {
    const int64_t numbers[] = {1, 2, 3};
    ExpectArrayOf(&aclCreateIntArray, numbers, 3, &aclGetIntArraySize, &aclDestroyIntArray);
    const float floats[] = {1.5F, 2.5F};
    ExpectArrayOf(&aclCreateFloatArray, floats, 2, &aclGetFloatArraySize, &aclDestroyFloatArray);
    const bool bools[] = {true, false, true, true};
    ExpectArrayOf(&aclCreateBoolArray, bools, 4, &aclGetBoolArraySize, &aclDestroyBoolArray);
}

// A list destroys its members: the leak sanitizer and the address sanitizer watch.
TEST(ArraysTest, ListsOwnTheirMembers) {
    const aclTensor* tensors[] = {support::Tensor(support::TensorSpec{{4}}).Release(),
                                  support::Tensor(support::TensorSpec{{5}}).Release()};
    ExpectArrayOf<aclTensorList, const aclTensor*>(&aclCreateTensorList, tensors, 2,
                                                   &aclGetTensorListSize, &aclDestroyTensorList);
    int64_t rank = 0;
    int64_t* dims = nullptr;
    uint64_t count = 0;
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclGetViewShape(tensors[0], &dims, &count),
                        {"destroyed"}));
    const aclScalar* scalars[] = {aclCreateScalar(&rank, ACL_INT64),
                                  aclCreateScalar(&rank, ACL_INT64)};
    ExpectArrayOf<aclScalarList, const aclScalar*>(&aclCreateScalarList, scalars, 2,
                                                   &aclGetScalarListSize, &aclDestroyScalarList);
}

TEST(ArraysTest, ScalarNeedsAValueOfWholeBytes) {
    int64_t value = 7;
    aclScalar* const scalar = aclCreateScalar(&value, ACL_INT64);
    ASSERT_NE(scalar, nullptr);
    EXPECT_TRUE(IsOk(aclDestroyScalar(scalar)));
    EXPECT_TRUE(IsOk(aclDestroyScalar(nullptr)));
    EXPECT_EQ(aclCreateScalar(nullptr, ACL_INT64), nullptr);
    EXPECT_NE(support::TakeMessage().find("value is null"), std::string::npos);
    EXPECT_EQ(aclCreateScalar(&value, ACL_INT4), nullptr);
    EXPECT_NE(support::TakeMessage().find("ACL_INT4"), std::string::npos);
}

}  // namespace
