// SPDX-License-Identifier: Apache-2.0
/// A GoogleMock object that stands before CANN's operators. Programs link
/// advance_step::mock_operators; docs/mocking.md has an example.
#ifndef ADVSTEP_ADVANCE_STEP_TESTING_MOCK_OPERATORS_H_
#define ADVSTEP_ADVANCE_STEP_TESTING_MOCK_OPERATORS_H_

#include <gmock/gmock.h>

#include <string>

#include "aclnn/acl_meta.h"

namespace advance_step::testing {

/// While one exists, it is asked at each call of an operator, in all threads. Several form a stack,
/// whose newest is asked: destroy them in reverse order, after the threads that make calls have
/// ended. The operators are those of libadvance_step_operators.so.
class MockOperators {
 public:
    MockOperators();
    virtual ~MockOperators();
    MockOperators(const MockOperators&) = delete;
    MockOperators& operator=(const MockOperators&) = delete;

    /// Phase one of a function, by the name of its phase two: "aclnnAdd". A code that is not 0 is
    /// the result of the call; with 0, the default, the call goes on to the library.
    MOCK_METHOD(aclnnStatus, PhaseOne, (const std::string& call));
    /// The same for phase two. A refused call leaves the executor to its owner.
    MOCK_METHOD(aclnnStatus, PhaseTwo, (const std::string& call));

 private:
    MockOperators* before_;  // null: there is none
};

}  // namespace advance_step::testing

#endif /* ADVSTEP_ADVANCE_STEP_TESTING_MOCK_OPERATORS_H_ */
