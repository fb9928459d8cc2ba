// SPDX-License-Identifier: Apache-2.0
/// A GoogleMock object that replaces every public C function. Programs link advance_step::mock;
/// docs/mocking.md has an example.
#ifndef ADVSTEP_ADVANCE_STEP_TESTING_MOCK_ACL_H_
#define ADVSTEP_ADVANCE_STEP_TESTING_MOCK_ACL_H_

#include <gmock/gmock.h>

#include "advance_step/testing/acl_functions.h"
#include "advance_step/testing/step_arguments.h"

namespace advance_step::testing {

/// While a mock exists, its methods replace the C functions in all threads. The default action of a
/// method is to call the library. Several mocks form a stack, and the newest receives the calls:
/// destroy them in reverse order, after the threads that make calls have ended. GoogleMock's
/// NiceMock<MockAcl> is the usual form; it does not warn about calls without an expectation.
///
/// Each C function has a method of the same name, parameters and result:
///
///     EXPECT_CALL(acl, aclrtMalloc(_, 64, _)).WillOnce(Return(ACL_ERROR_RT_MEMORY_ALLOCATION));
///
/// The method aclnnStepGetWorkspaceSize is an exception: it has one parameter, a StepArguments.
class MockAcl {
 public:
    MockAcl();
    MockAcl(const MockAcl&) = delete;
    MockAcl& operator=(const MockAcl&) = delete;
    virtual ~MockAcl();

/// The method of a function in the lists.
#define ADVSTEP_FUNCTION(result, name, parameters, arguments) MOCK_METHOD(result, name, parameters);
/// The method of a function with more parameters than GoogleMock allows.
#define ADVSTEP_LONG_FUNCTION(result, name, parameters, arguments) \
    MOCK_METHOD(result, name, (const StepArguments& all));
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
#undef ADVSTEP_LONG_FUNCTION
#undef ADVSTEP_FUNCTION

 private:
    MockAcl* before_;
};

}  // namespace advance_step::testing

// These are compiled once, in a file of advance_step::mock, because they take most of the compile
// time.
namespace testing {
extern template class NiceMock<advance_step::testing::MockAcl>;
extern template class NaggyMock<advance_step::testing::MockAcl>;
extern template class StrictMock<advance_step::testing::MockAcl>;
}  // namespace testing

#endif  // ADVSTEP_ADVANCE_STEP_TESTING_MOCK_ACL_H_
