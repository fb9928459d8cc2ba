// SPDX-License-Identifier: Apache-2.0
// Scalars, arrays and lists of acl_meta.h. Each is freed once.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "aclnn/acl_meta.h"
#include "advance_step/operator/core.h"
#include "support/status.h"
#include "support/tensor.h"

namespace {

using support::IsError;
using support::IsOk;

constexpr int kInvalid = ACLNN_ERR_PARAM_INVALID;

// Leaves a message that the calls after it must not change.
constexpr char kEarlier[] = "aclGetIntArraySize: array is null; expected a pointer";
void FailEarlier() {
    uint64_t size = 0;
    (void)aclGetIntArraySize(nullptr, &size);
}

TEST(ScalarTest, TakesEveryTypeWithASize) {
    std::array<char, 16> value{};
    for (const aclDataType dtype :
         {ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT32, ACL_UINT8, ACL_INT16, ACL_INT64, ACL_DOUBLE,
          ACL_BOOL, ACL_COMPLEX64, ACL_COMPLEX128, ACL_BF16}) {
        aclScalar* scalar = aclCreateScalar(value.data(), dtype);
        EXPECT_NE(scalar, nullptr) << dtype;
        EXPECT_TRUE(IsOk(aclDestroyScalar(scalar)));
    }
}

TEST(ScalarTest, RefusesNullAndTypesWithoutASize) {
    std::array<char, 16> value{};
    EXPECT_EQ(aclCreateScalar(nullptr, ACL_INT64), nullptr);
    for (const aclDataType dtype :
         {ACL_DT_UNDEFINED, ACL_STRING, ACL_INT4, ACL_UINT1, ACL_FLOAT6_E3M2, ACL_FLOAT4_E2M1}) {
        EXPECT_EQ(aclCreateScalar(value.data(), dtype), nullptr) << dtype;
    }
}

TEST(ScalarTest, CopiesTheValue) {
    const auto value = std::make_unique<int64_t>(5);
    aclScalar* scalar = aclCreateScalar(value.get(), ACL_INT64);
    EXPECT_TRUE(IsOk(aclDestroyScalar(scalar)));
    EXPECT_EQ(*value, 5);
}

TEST(ScalarTest, DestroyedOnesAreRefused) {
    int64_t value = 5;
    aclScalar* scalar = aclCreateScalar(&value, ACL_INT64);
    EXPECT_TRUE(
        IsError(ACLNN_ERR_PARAM_NULLPTR, advstepReadScalar(scalar, nullptr), {"value is null"}));
    EXPECT_TRUE(IsOk(aclDestroyScalar(scalar)));
    EXPECT_TRUE(IsError(kInvalid, aclDestroyScalar(scalar), {"scalar has been destroyed"}));
    AdvStepScalarValue read{};
    EXPECT_TRUE(IsError(kInvalid, advstepReadScalar(scalar, &read), {"scalar has been destroyed"}));
}

// The three kinds of value arrays behave alike.
template <class Array, class Value, Array* (*Create)(const Value*, uint64_t),
          aclnnStatus (*Destroy)(const Array*), aclnnStatus (*Size)(const Array*, uint64_t*),
          aclnnStatus (*Read)(const Array*, const Value**, uint64_t*)>
struct ArrayApi {
    static void Run() {
        const std::array<Value, 5> values{};
        for (const uint64_t size : {0, 1, 5}) {
            Array* array = Create(values.data(), size);
            ASSERT_NE(array, nullptr);
            uint64_t actual = 77;
            EXPECT_TRUE(IsOk(Size(array, &actual)));
            EXPECT_EQ(actual, size);
            EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, Size(array, nullptr)));
            const Value* read = nullptr;
            EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, Read(array, nullptr, &actual),
                                {"values is null"}));
            EXPECT_TRUE(
                IsError(ACLNN_ERR_PARAM_NULLPTR, Read(array, &read, nullptr), {"count is null"}));
            EXPECT_EQ(read, nullptr);
            EXPECT_TRUE(IsOk(Destroy(array)));
            EXPECT_TRUE(IsError(kInvalid, Destroy(array), {"array has been destroyed"}));
            EXPECT_TRUE(IsError(kInvalid, Size(array, &actual), {"array has been destroyed"}));
            EXPECT_TRUE(
                IsError(kInvalid, Read(array, &read, &actual), {"array has been destroyed"}));
            EXPECT_EQ(actual, size);
        }
        Array* empty = Create(nullptr, 0);
        EXPECT_NE(empty, nullptr);
        EXPECT_TRUE(IsOk(Destroy(empty)));
        EXPECT_EQ(Create(nullptr, 1), nullptr);
        EXPECT_TRUE(IsOk(Destroy(nullptr)));
        uint64_t untouched = 77;
        EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, Size(nullptr, &untouched)));
        EXPECT_EQ(untouched, 77U);
    }
};

TEST(ArraysTest, OfIntegers) {
    ArrayApi<aclIntArray, int64_t, aclCreateIntArray, aclDestroyIntArray, aclGetIntArraySize,
             advstepReadIntArray>::Run();
}

TEST(ArraysTest, OfFloats) {
    ArrayApi<aclFloatArray, float, aclCreateFloatArray, aclDestroyFloatArray, aclGetFloatArraySize,
             advstepReadFloatArray>::Run();
}

TEST(ArraysTest, OfBools) {
    ArrayApi<aclBoolArray, bool, aclCreateBoolArray, aclDestroyBoolArray, aclGetBoolArraySize,
             advstepReadBoolArray>::Run();
}

// A list owns its members, and has copied the pointers.
template <class Member, class Create, class GetSize, class Destroy>
void ExpectListOf(Create create, GetSize getSize, Destroy destroy, std::vector<Member> members) {
    auto* const list = create(members.data(), members.size());
    ASSERT_NE(list, nullptr);
    const uint64_t count = members.size();
    members.assign(count, nullptr);
    uint64_t size = 0;
    EXPECT_TRUE(IsOk(getSize(list, &size)));
    EXPECT_EQ(size, count);
    EXPECT_TRUE(IsOk(destroy(list)));
}

TEST(ListTest, OfTensorsOwnsItsMembers) {
    std::vector<const aclTensor*> members;
    for (int64_t i = 1; i <= 3; ++i) {
        members.push_back(support::Tensor({{i}}).Release());
    }
    ExpectListOf<const aclTensor*>(&aclCreateTensorList, &aclGetTensorListSize,
                                   &aclDestroyTensorList, members);
}

TEST(ListTest, OfScalarsOwnsItsMembers) {
    int64_t value = 1;
    ExpectListOf<const aclScalar*>(
        &aclCreateScalarList, &aclGetScalarListSize, &aclDestroyScalarList,
        {aclCreateScalar(&value, ACL_INT64), aclCreateScalar(&value, ACL_INT64)});
}

TEST(ListTest, DestroyedOnesAreRefused) {
    uint64_t size = 77;
    aclTensorList* tensors = aclCreateTensorList(nullptr, 0);
    EXPECT_TRUE(IsOk(aclDestroyTensorList(tensors)));
    EXPECT_TRUE(IsError(kInvalid, aclDestroyTensorList(tensors), {"has been destroyed"}));
    EXPECT_TRUE(IsError(kInvalid, aclGetTensorListSize(tensors, &size), {"has been destroyed"}));
    aclScalarList* scalars = aclCreateScalarList(nullptr, 0);
    EXPECT_TRUE(IsOk(aclDestroyScalarList(scalars)));
    EXPECT_TRUE(IsError(kInvalid, aclDestroyScalarList(scalars), {"has been destroyed"}));
    EXPECT_TRUE(IsError(kInvalid, aclGetScalarListSize(scalars, &size), {"has been destroyed"}));
    EXPECT_EQ(size, 77U);
}

TEST(ListTest, LeavesDestroyedMembersAndTheMessageAlone) {
    const aclTensor* tensor = support::Tensor({{3}}).Release();
    const aclTensor* dead = support::Tensor({{4}}).Release();
    const std::array<const aclTensor*, 4> tensors{tensor, dead, nullptr, tensor};
    aclTensorList* tensorList = aclCreateTensorList(tensors.data(), tensors.size());
    EXPECT_TRUE(IsOk(aclDestroyTensor(dead)));
    FailEarlier();
    EXPECT_TRUE(IsOk(aclDestroyTensorList(tensorList)));
    EXPECT_EQ(support::TakeMessage(), kEarlier);
    EXPECT_TRUE(IsError(kInvalid, aclDestroyTensor(tensor), {"tensor has been destroyed"}));

    int64_t value = 1;
    const aclScalar* scalar = aclCreateScalar(&value, ACL_INT64);
    const aclScalar* deadScalar = aclCreateScalar(&value, ACL_INT64);
    const std::array<const aclScalar*, 4> scalars{scalar, deadScalar, nullptr, scalar};
    aclScalarList* scalarList = aclCreateScalarList(scalars.data(), scalars.size());
    EXPECT_TRUE(IsOk(aclDestroyScalar(deadScalar)));
    FailEarlier();
    EXPECT_TRUE(IsOk(aclDestroyScalarList(scalarList)));
    EXPECT_EQ(support::TakeMessage(), kEarlier);
    EXPECT_TRUE(IsError(kInvalid, aclDestroyScalar(scalar), {"scalar has been destroyed"}));
}

TEST(ListTest, MayBeEmpty) {
    uint64_t size = 77;
    aclTensorList* tensors = aclCreateTensorList(nullptr, 0);
    ASSERT_NE(tensors, nullptr);
    EXPECT_TRUE(IsOk(aclGetTensorListSize(tensors, &size)));
    EXPECT_EQ(size, 0U);
    EXPECT_TRUE(IsOk(aclDestroyTensorList(tensors)));
    size = 77;
    aclScalarList* scalars = aclCreateScalarList(nullptr, 0);
    ASSERT_NE(scalars, nullptr);
    EXPECT_TRUE(IsOk(aclGetScalarListSize(scalars, &size)));
    EXPECT_EQ(size, 0U);
    EXPECT_TRUE(IsOk(aclDestroyScalarList(scalars)));
}

TEST(ListTest, RefusesNull) {
    uint64_t size = 77;
    EXPECT_EQ(aclCreateTensorList(nullptr, 1), nullptr);
    EXPECT_EQ(aclCreateScalarList(nullptr, 1), nullptr);
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetTensorListSize(nullptr, &size)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, aclGetScalarListSize(nullptr, &size)));
    EXPECT_EQ(size, 77U);
    EXPECT_TRUE(IsOk(aclDestroyTensorList(nullptr)));
    EXPECT_TRUE(IsOk(aclDestroyScalarList(nullptr)));
    EXPECT_TRUE(IsOk(aclDestroyScalar(nullptr)));
}

}  // namespace
