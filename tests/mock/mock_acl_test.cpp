// SPDX-License-Identifier: Apache-2.0
// Every call of a program goes to the mock, whoever makes it, and by default on to the library.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include "acl/acl.h"
#include "aclnnop/aclnn_step.h"
#include "advance_step/testing/mock_acl.h"

namespace {

using advance_step::testing::CallsOf;
using advance_step::testing::ForgetCalls;
using advance_step::testing::MockAcl;
using advance_step::testing::Real;
using advance_step::testing::StepArguments;
using testing::_;
using testing::Field;
using testing::NiceMock;
using testing::Return;

TEST(MockAclTest, CallsTheLibraryByDefault) {
    NiceMock<MockAcl> acl;
    uint32_t devices = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&devices), ACL_SUCCESS);
    EXPECT_GE(devices, 1U);
    EXPECT_EQ(aclDataTypeSize(ACL_INT64), 8U);
    EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
    ASSERT_NE(Real().aclGetRecentErrMsg(), nullptr);
}

TEST(MockAclTest, InjectsResults) {
    NiceMock<MockAcl> acl;
    EXPECT_CALL(acl, aclrtMalloc(_, 64, ACL_MEM_MALLOC_HUGE_FIRST))
        .WillOnce(Return(ACL_ERROR_RT_MEMORY_ALLOCATION));
    EXPECT_CALL(acl, aclrtSynchronizeStream(nullptr)).WillOnce(Return(123));
    void* memory = nullptr;
    EXPECT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT_EQ(memory, nullptr);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 123);
}

TEST(MockAclTest, TheLibraryIsBackAfterTheMock) {
    size_t size = 0;
    {
        NiceMock<MockAcl> outer;
        ON_CALL(outer, aclDataTypeSize).WillByDefault(Return(11));
        {
            NiceMock<MockAcl> inner;
            ON_CALL(inner, aclDataTypeSize).WillByDefault(Return(22));
            EXPECT_EQ(aclDataTypeSize(ACL_INT32), 22U);
        }
        EXPECT_EQ(aclDataTypeSize(ACL_INT32), 11U);
        size = Real().aclDataTypeSize(ACL_INT32);
    }
    EXPECT_EQ(size, 4U);
    EXPECT_EQ(aclDataTypeSize(ACL_INT32), 4U);
}

TEST(MockAclTest, PacksManyArguments) {
    NiceMock<MockAcl> acl;
    EXPECT_CALL(acl,
                aclnnStepGetWorkspaceSize(AllOf(Field(&StepArguments::blockSize, 64),
                                                Field(&StepArguments::encoderDecoderBlockNum, 7))))
        .WillOnce(Return(ACLNN_ERR_INNER));
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const auto call = [&](int64_t blockSize) {
        return aclnnStepGetWorkspaceSize(
            nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
            nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
            nullptr, nullptr, nullptr, nullptr, blockSize, 7, &size, &executor);
    };
    EXPECT_EQ(call(64), ACLNN_ERR_INNER);
    testing::Mock::VerifyAndClearExpectations(&acl);
    EXPECT_NE(call(64), ACLNN_ERR_INNER);  // the library's answer to tensors that are null
}

// The tensors of StepArguments are those of the C function, each in its place.
TEST(MockAclTest, PacksEveryTensorInItsPlace) {
    NiceMock<MockAcl> acl;
    StepArguments seen{};
    EXPECT_CALL(acl, aclnnStepGetWorkspaceSize)
        .WillOnce(testing::DoAll(testing::SaveArg<0>(&seen), Return(0)));
    char places[23];
    const auto at = [&](size_t i) { return reinterpret_cast<const aclTensor*>(&places[i]); };
    EXPECT_EQ(
        aclnnStepGetWorkspaceSize(at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9),
                                  at(10), at(11), at(12), at(13), at(14), at(15), at(16), at(17),
                                  at(18), at(19), at(20), at(21), at(22), 64, 7, nullptr, nullptr),
        0);
    EXPECT_EQ(seen.stopFlags, at(1));
    EXPECT_EQ(seen.blockTables, at(6));
    EXPECT_EQ(seen.recoverBlockList, at(11));
    EXPECT_EQ(seen.freeList, at(16));
    EXPECT_EQ(seen.inputIds, at(18));
    EXPECT_EQ(seen.firstTokenIds, at(22));
    EXPECT_EQ(seen.PassTo([](auto... all) {
        static const void* first = nullptr;
        size_t inOrder = 0;
        const auto next = [&](auto argument) {
            if constexpr (std::is_same_v<decltype(argument), const aclTensor*>) {
                first = inOrder == 0 ? argument : first;
                inOrder +=
                    argument == static_cast<const void*>(static_cast<const char*>(first) + inOrder);
            }
        };
        (next(all), ...);
        return static_cast<aclnnStatus>(inOrder);
    }),
              22);
}

TEST(MockAclDeathTest, MocksGoInReverseOrder) {
    EXPECT_DEATH(
        {
            auto older = std::make_unique<NiceMock<MockAcl>>();
            const NiceMock<MockAcl> newer;
            older.reset();
        },
        "destroyed before a newer one");
}

TEST(MockAclTest, CountsCalls) {
    ForgetCalls();
    EXPECT_EQ(aclDataTypeSize(ACL_INT32), Real().aclDataTypeSize(ACL_INT32));
    EXPECT_EQ(aclDataTypeSize(ACL_INT32), 4U);
    EXPECT_EQ(CallsOf("aclDataTypeSize"), 2U);
    EXPECT_EQ(CallsOf("aclrtMalloc"), 0U);
    EXPECT_THROW(CallsOf("aclrtMallok"), std::invalid_argument);
    ForgetCalls();
    EXPECT_EQ(CallsOf("aclDataTypeSize"), 0U);
}

// A method that no test has named is an uninteresting call, as each kind of mock treats it, and
// reaches the library.
TEST(MockAclTest, UnnamedMethodsAreUninteresting) {
    {
        const NiceMock<MockAcl> nice;
        testing::internal::CaptureStdout();
        EXPECT_EQ(aclDataTypeSize(ACL_INT32), 4U);
        EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    }
    {
        const testing::NaggyMock<MockAcl> naggy;
        testing::internal::CaptureStdout();
        EXPECT_EQ(aclDataTypeSize(ACL_INT32), 4U);
        EXPECT_THAT(testing::internal::GetCapturedStdout(),
                    testing::AllOf(testing::HasSubstr("Uninteresting mock function call"),
                                   testing::HasSubstr("aclDataTypeSize")));
    }
    const testing::StrictMock<MockAcl> strict;
    size_t size = 0;
    EXPECT_NONFATAL_FAILURE(size = aclDataTypeSize(ACL_INT32), "Uninteresting mock function call");
    EXPECT_EQ(size, 4U);
}

TEST(MockAclTest, AMissedExpectationFailsAtTheEndOfTheMock) {
    auto acl = std::make_unique<NiceMock<MockAcl>>();
    EXPECT_CALL(*acl, aclDataTypeSize(ACL_INT8)).Times(1);
    EXPECT_NONFATAL_FAILURE(acl.reset(), "Actual: never called");
}

// Other calls of a named method still reach the library.
TEST(MockAclTest, NamedMethodsCallTheLibraryWithoutAnAction) {
    NiceMock<MockAcl> acl;
    EXPECT_CALL(acl, aclDataTypeSize).Times(2);
    EXPECT_EQ(aclDataTypeSize(ACL_INT32), 4U);
    ON_CALL(acl, aclrtGetDeviceCount(nullptr)).WillByDefault(Return(5));
    EXPECT_EQ(aclrtGetDeviceCount(nullptr), 5);
    uint32_t devices = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&devices), ACL_SUCCESS);
    EXPECT_EQ(acl.aclDataTypeSize(ACL_INT64), 8U) << "a method can be called itself";
}

// Threads may call while the test names other functions for the first time.
TEST(MockAclTest, MethodsAreMadeWhileThreadsCall) {
    for (int round = 0; round < 100; ++round) {
        NiceMock<MockAcl> acl;
        std::thread other([] {
            for (int i = 0; i < 100; ++i) {
                EXPECT_EQ(aclDataTypeSize(ACL_INT64), 8U);
            }
        });
        ON_CALL(acl, aclrtGetDeviceCount).WillByDefault(Return(9));
        EXPECT_EQ(aclrtGetDeviceCount(nullptr), 9);
        other.join();
    }
}

// What the library calls inside is its own affair.
TEST(MockAclTest, TheLibraryIsNotItsOwnClient) {
    NiceMock<MockAcl> acl;
    EXPECT_CALL(acl, aclDestroyTensor).Times(0);
    aclTensor* tensor =
        aclCreateTensor(nullptr, 0, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr);
    ASSERT_NE(tensor, nullptr);
    const aclTensor* const members[] = {tensor};
    EXPECT_EQ(aclDestroyTensorList(aclCreateTensorList(members, 1)), ACLNN_SUCCESS);
}

// A shared library that is loaded later, as plugins are, calls the mock as well.
TEST(MockAclTest, PluginsCallTheMock) {
    NiceMock<MockAcl> acl;
    EXPECT_CALL(acl, aclDataTypeSize(ACL_INT8)).WillOnce(Return(77));
    void* plugin = dlopen(MOCK_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr) << dlerror();
    auto* const call = reinterpret_cast<size_t (*)()>(dlsym(plugin, "SizeInPlugin"));
    ASSERT_NE(call, nullptr);
    EXPECT_EQ(call(), 77U);
    EXPECT_EQ(dlclose(plugin), 0);
}

TEST(MockAclTest, ThreadsShareTheMock) {
    NiceMock<MockAcl> acl;
    EXPECT_CALL(acl, aclDataTypeSize(ACL_INT8)).Times(2000).WillRepeatedly(Return(5));
    const auto work = [] {
        for (int i = 0; i < 1000; ++i) {
            EXPECT_EQ(aclDataTypeSize(ACL_INT8), 5U);
        }
    };
    std::thread other(work);
    work();
    other.join();
}

}  // namespace
