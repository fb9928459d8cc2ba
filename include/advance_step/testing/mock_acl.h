// SPDX-License-Identifier: Apache-2.0
/// A GoogleMock object that replaces every public C function. Programs link advance_step::mock;
/// docs/mocking.md has an example.
#ifndef ADVSTEP_ADVANCE_STEP_TESTING_MOCK_ACL_H_
#define ADVSTEP_ADVANCE_STEP_TESTING_MOCK_ACL_H_

#include <gmock/gmock.h>

#include <cstddef>

#include "advance_step/testing/acl_functions.h"
#include "advance_step/testing/mock_methods.h"
#include "advance_step/testing/step_arguments.h"

namespace advance_step::testing {

/// The C functions, in the order of the .inc lists.
enum MockedFunction : size_t {
#define ADVSTEP_FUNCTION(result, name, parameters, arguments) k_##name,
#define ADVSTEP_LONG_FUNCTION ADVSTEP_FUNCTION
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
#undef ADVSTEP_LONG_FUNCTION
#undef ADVSTEP_FUNCTION
    kMockedFunctions
};

/// The members that EXPECT_CALL and ON_CALL need for each function: gmock_NAME with matchers and
/// without. They are templates, so only those that a test uses are compiled.
#define ADVSTEP_MOCKED(name, real)                                                             \
    template <typename Mock, typename Signature>                                               \
    class Gmock_##name;                                                                        \
    template <typename Mock, typename Result, typename... Arguments>                           \
    class Gmock_##name<Mock, Result(Arguments...)> {                                           \
     public:                                                                                   \
        ::testing::internal::MockSpec<Result(Arguments...)> gmock_##name(                      \
            const ::testing::Matcher<Arguments>&... matchers) {                                \
            return Made().Expect(matchers...);                                                 \
        }                                                                                      \
        ::testing::internal::MockSpec<Result(Arguments...)> gmock_##name(                      \
            const ::testing::internal::WithoutMatchers& /*none*/, std::nullptr_t /*unused*/) { \
            return Made().ExpectAny();                                                         \
        }                                                                                      \
                                                                                               \
     private:                                                                                  \
        MockedMethod<Result(Arguments...)>& Made() {                                           \
            Mock* const mock = static_cast<Mock*>(this);                                       \
            return mock->template Get<Result(Arguments...)>(k_##name, mock, #name, real);      \
        }                                                                                      \
    };
#define ADVSTEP_FUNCTION(result, name, parameters, arguments) ADVSTEP_MOCKED(name, Real().name)
#define ADVSTEP_LONG_FUNCTION(result, name, parameters, arguments) \
    ADVSTEP_MOCKED(                                                \
        name, +[](const StepArguments& all) { return all.PassTo(Real().name); })
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
#undef ADVSTEP_LONG_FUNCTION
#undef ADVSTEP_FUNCTION
#undef ADVSTEP_MOCKED

/// While a mock exists, its methods replace the C functions in all threads. The default action of a
/// method is to call the library. Several mocks form a stack, whose newest mock receives the calls:
/// destroy them in reverse order, after the threads that make calls have ended. The usual form is
/// GoogleMock's NiceMock<MockAcl>, which does not warn about calls without an expectation.
///
/// Each C function has a method of the same name, parameters and result:
///
///     EXPECT_CALL(acl, aclrtMalloc(_, 64, _)).WillOnce(Return(ACL_ERROR_RT_MEMORY_ALLOCATION));
///
/// The method aclnnStepGetWorkspaceSize is an exception: it has one parameter, a StepArguments.
// clang-format off
class MockAcl :
#define ADVSTEP_FUNCTION(result, name, parameters, arguments) \
    public Gmock_##name<MockAcl, result parameters>,
#define ADVSTEP_LONG_FUNCTION(result, name, parameters, arguments) \
    public Gmock_##name<MockAcl, result(const StepArguments& all)>,
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
#undef ADVSTEP_LONG_FUNCTION
#undef ADVSTEP_FUNCTION
    public MockMethods {
    // clang-format on
 public:
    MockAcl();
    MockAcl(const MockAcl&) = delete;
    MockAcl& operator=(const MockAcl&) = delete;
    ~MockAcl() override;

#define ADVSTEP_FUNCTION(result, name, parameters, arguments) result name parameters;
#define ADVSTEP_LONG_FUNCTION(result, name, parameters, arguments) \
    result name(const StepArguments& all);
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
#undef ADVSTEP_LONG_FUNCTION
#undef ADVSTEP_FUNCTION

 private:
    void ReportUninteresting(const char* function);

    MockAcl* before_;
};

}  // namespace advance_step::testing

#endif  // ADVSTEP_ADVANCE_STEP_TESTING_MOCK_ACL_H_
