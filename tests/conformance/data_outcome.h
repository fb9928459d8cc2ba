// SPDX-License-Identifier: Apache-2.0
// What becomes of a batch whose data may have an error.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_DATA_OUTCOME_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_DATA_OUTCOME_H_

#include <gtest/gtest.h>

#include <string>

#include "support/op_batch.h"
#include "support/status.h"

namespace conformance {

// Runs the batch: it has the values without a message, and with one it is untouched. Then later
// work goes on.
template <class Values>
void ExpectOutcome(support::OpBatch batch, const std::string& call, const std::string& message,
                   const Values& expected, support::OpBatch later) {
    const int status = batch.Run(nullptr);
    if (message.empty()) {
        EXPECT_TRUE(support::IsOk(status));
        EXPECT_TRUE(batch.Holds(expected));
        return;
    }
    EXPECT_EQ(status, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(support::TakeMessage(), "aclrtSynchronizeStream: " + call + ": " + message);
    EXPECT_TRUE(batch.IsUntouched());
    EXPECT_TRUE(support::IsOk(later.Run(nullptr))) << "later work goes on";
}

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_DATA_OUTCOME_H_
