/// A GoogleMock object that takes the place of every public C function. Link advance_step::mock;
/// docs/mocking.md has an example.
#ifndef ADVSTEP_ADVANCE_STEP_TESTING_MOCK_ACL_H_
#define ADVSTEP_ADVANCE_STEP_TESTING_MOCK_ACL_H_

#include <gmock/gmock.h>

#include "advance_step/testing/acl_functions.h"
#include "advance_step/testing/step_arguments.h"

namespace advance_step::testing {

/// While it lives, the C functions are its methods, for all threads; their default action is to
/// call the library. Several form a stack: the newest is called, so destroy them in reverse order,
/// and after the threads that make calls have ended. Mostly used within GoogleMock's NiceMock,
/// which is silent about calls that nothing is expected of.
///
/// There is a method for every C function, of the same name, parameters and result:
///
///     EXPECT_CALL(acl, aclrtMalloc(_, 64, _)).WillOnce(Return(ACL_ERROR_RT_MEMORY_ALLOCATION));
///
/// but aclnnStepGetWorkspaceSize has one parameter, a StepArguments.
class MockAcl {
 public:
    MockAcl();
    MockAcl(const MockAcl&) = delete;
    MockAcl& operator=(const MockAcl&) = delete;
    virtual ~MockAcl();

/// A function of the lists.
#define ADVSTEP_FUNCTION(result, name, parameters, arguments) MOCK_METHOD(result, name, parameters);
/// One with more parameters than GoogleMock has room for.
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

// Compiled once, in a file of advance_step::mock: they take most of the time.
namespace testing {
extern template class NiceMock<advance_step::testing::MockAcl>;
extern template class NaggyMock<advance_step::testing::MockAcl>;
extern template class StrictMock<advance_step::testing::MockAcl>;
}  // namespace testing

#endif  // ADVSTEP_ADVANCE_STEP_TESTING_MOCK_ACL_H_
