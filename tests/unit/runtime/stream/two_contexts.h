// SPDX-License-Identifier: Apache-2.0
// Two contexts that the tests make, and that go if they are still there.
#ifndef ADVANCE_STEP_TESTS_UNIT_RUNTIME_STREAM_TWO_CONTEXTS_H_
#define ADVANCE_STEP_TESTS_UNIT_RUNTIME_STREAM_TWO_CONTEXTS_H_

#include "src/runtime/lifecycle/context_end.h"
#include "src/runtime/stream/context.h"
#include "support/runtime_test.h"
#include "unit/status_check.h"

namespace unit {

class TwoContextsTest : public support::EndedRuntimeTest {
 protected:
    void EndContexts() {
        for (const advstep::ContextRef& context : {a_, b_}) {
            if (context.context->Alive(context.handle)) {
                EXPECT_TRUE(Succeeds(advstep::DestroyContext(context)));
            }
        }
    }

    advstep::ContextRef a_, b_;
};

}  // namespace unit

#endif  // ADVANCE_STEP_TESTS_UNIT_RUNTIME_STREAM_TWO_CONTEXTS_H_
