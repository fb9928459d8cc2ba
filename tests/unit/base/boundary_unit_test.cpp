// SPDX-License-Identifier: Apache-2.0
// Tests of the boundary: codes, messages and exceptions, per thread.

#include "src/base/boundary.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "unit/status_check.h"

namespace advstep {
namespace {

std::string Message() {
    const char* const text = TakeRecentMessage();
    return text == nullptr ? "(none)" : text;
}

class BoundaryTest : public testing::Test {
 protected:
    void SetUp() override {
        (void)TakeRecentMessage();
        (void)TakeLastError();
    }
};

TEST_F(BoundaryTest, SuccessLeavesNoTrace) {
    EXPECT_EQ(AclBoundary("aclInit", [] { return Status(); }), ACL_SUCCESS);
    EXPECT_EQ(AclnnBoundary("aclnnInit", 561000, [] { return Status(); }), 0);
    EXPECT_EQ(TakeRecentMessage(), nullptr);
    EXPECT_EQ(PeekLastError(), ACL_SUCCESS);
}

TEST_F(BoundaryTest, SuccessKeepsTheFailureBefore) {
    AclBoundary("aclrtFree", [] { return Status(107000, "devPtr is odd"); });
    AclBoundary("aclrtFree", [] { return Status(); });
    EXPECT_EQ(PeekLastError(), 107000);
    EXPECT_EQ(Message(), "aclrtFree: devPtr is odd");
}

TEST_F(BoundaryTest, FailureGivesCodeAndNamedMessage) {
    EXPECT_EQ(AclBoundary("aclrtMalloc", [] { return Status(207001, "size is 9"); }), 207001);
    EXPECT_EQ(PeekLastError(), 207001);
    EXPECT_EQ(Message(), "aclrtMalloc: size is 9");
}

TEST_F(BoundaryTest, AclnnFailureIsNoAclError) {
    EXPECT_EQ(AclnnBoundary("aclGetFormat", 561000, [] { return Status(161001, "null"); }), 161001);
    EXPECT_EQ(PeekLastError(), ACL_SUCCESS);
    EXPECT_EQ(Message(), "aclGetFormat: null");
}

TEST_F(BoundaryTest, ExceptionsBecomeCodes) {
    EXPECT_EQ(AclBoundary("a", []() -> Status { throw std::bad_alloc(); }), ACL_ERROR_BAD_ALLOC);
    EXPECT_EQ(Message(), "a: the host is out of memory");
    EXPECT_EQ(AclBoundary("b", []() -> Status { throw std::runtime_error("torn"); }),
              ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(Message(), "b: torn");
    EXPECT_EQ(AclBoundary("c", []() -> Status { throw 3; }), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(Message(), "c: unknown exception");
    EXPECT_EQ(AclBoundary("aclrtFree", []() -> Status { throw 3; }), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(TakeLastError(), ACL_ERROR_INTERNAL_ERROR);
}

TEST_F(BoundaryTest, OnlyTheRuntimeHasALastError) {
    for (const char* const call :
         {"aclInit", "aclsysGetVersionStr", "aclopExecuteV2", "aclmdlSetDump",
          "aclCreateDataBuffer", "rtKernelLaunch", "acl", ""}) {
        EXPECT_EQ(RecordAclFailure(call, 100003, "x"), 100003);
        EXPECT_EQ(PeekLastError(), ACL_SUCCESS) << call;
        EXPECT_EQ(Message(), std::string(call) + ": x");
    }
    for (const char* const call : {"aclrtMalloc", "aclmdlRIDestroy"}) {
        EXPECT_EQ(RecordAclFailure(call, 100003, "x"), 100003);
        EXPECT_EQ(TakeLastError(), 100003) << call;
    }
}

TEST_F(BoundaryTest, DroppingAMessageKeepsTheLastError) {
    RecordAclFailure("aclrtFree", Status(107000, "x"));
    DropRecentMessage();
    EXPECT_EQ(TakeRecentMessage(), nullptr);
    EXPECT_EQ(PeekLastError(), 107000);
}

TEST_F(BoundaryTest, AclnnExceptionsBecomeTheInnerCode) {
    EXPECT_EQ(AclnnBoundary("a", 561000, []() -> Status { throw std::runtime_error("torn"); }),
              561000);
    EXPECT_EQ(Message(), "a: torn");
    EXPECT_EQ(AclnnBoundary("b", 561101, []() -> Status { throw 3; }), 561101);
    EXPECT_EQ(Message(), "b: unknown exception");
}

TEST_F(BoundaryTest, ReadingTheMessageClearsIt) {
    RecordFailure("aclInit", Status(1, "x"));
    EXPECT_EQ(Message(), "aclInit: x");
    EXPECT_EQ(TakeRecentMessage(), nullptr);
}

TEST_F(BoundaryTest, TheLatestFailureIsKept) {
    RecordFailure("first", Status(1, "x"));
    RecordFailure("second", Status(2, "y"));
    EXPECT_EQ(Message(), "second: y");
}

TEST_F(BoundaryTest, TextInHandSurvivesTheNextFailure) {
    RecordFailure("first", Status(1, std::string(100, 'x')));
    const char* const text = TakeRecentMessage();
    RecordFailure("second", Status(2, std::string(100, 'y')));
    EXPECT_EQ(text, "first: " + std::string(100, 'x'));
}

TEST_F(BoundaryTest, VeryLongMessageIsCut) {
    RecordFailure("call", 1, std::string(5000, 'x').c_str());
    const std::string message = Message();
    EXPECT_EQ(message.rfind("call: xxx", 0), 0U);
    EXPECT_GE(message.size(), 500U);
    EXPECT_LT(message.size(), 5000U);
    EXPECT_EQ(message.find_first_not_of('x', 6), std::string::npos);
}

TEST_F(BoundaryTest, KeptErrorsComeBack) {
    RecordAclFailure("aclrtMine", Status(1, "x"));
    {
        const ErrorStateScope errors;
        EXPECT_EQ(Message(), "aclrtMine: x");
        RecordAclFailure("aclrtOther", Status(2, "y"));
    }
    EXPECT_EQ(PeekLastError(), 1);
    EXPECT_EQ(Message(), "aclrtMine: x");
    (void)TakeLastError();
    {
        const ErrorStateScope errors;
        RecordAclFailure("aclrtOther", Status(2, "y"));
    }
    EXPECT_EQ(PeekLastError(), ACL_SUCCESS);
    EXPECT_EQ(TakeRecentMessage(), nullptr);
}

TEST_F(BoundaryTest, PeekingKeepsTheLastErrorAndTakingClearsIt) {
    RecordAclFailure("aclrtFree", Status(100003, "x"));
    EXPECT_EQ(PeekLastError(), 100003);
    EXPECT_EQ(TakeLastError(), 100003);
    EXPECT_EQ(TakeLastError(), ACL_SUCCESS);
}

TEST_F(BoundaryTest, EveryThreadHasItsOwnState) {
    RecordAclFailure("aclrtMine", Status(1, "x"));
    std::thread([] {
        EXPECT_EQ(TakeRecentMessage(), nullptr);
        EXPECT_EQ(PeekLastError(), ACL_SUCCESS);
        RecordAclFailure("aclrtOther", Status(2, "y"));
    }).join();
    EXPECT_EQ(PeekLastError(), 1);
    EXPECT_EQ(Message(), "aclrtMine: x");
}

TEST_F(BoundaryTest, RequireNotNullNamesTheArgument) {
    const int value = 0;
    EXPECT_TRUE(unit::Succeeds(RequireNotNull(&value, "dst")));
    EXPECT_TRUE(unit::FailsWith(ACL_ERROR_INVALID_PARAM, RequireNotNull(nullptr, "dst"),
                                {"dst is null; expected a pointer"}));
}

}  // namespace
}  // namespace advstep
