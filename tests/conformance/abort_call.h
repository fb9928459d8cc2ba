// SPDX-License-Identifier: Apache-2.0
// A call that waits for a stream which another thread aborts.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_ABORT_CALL_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_ABORT_CALL_H_

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/status.h"
#include "support/threads.h"

namespace conformance {

// Expects that the call, made by another thread with this one's context, returns that the stream
// was aborted, while the stream stands at the gate. The gate is opened afterwards. The aborts go on
// until the call has returned: only one that comes after the call has begun to wait tells it.
inline void ExpectAborted(const support::Stream& stream, const support::HostGate& gate,
                          const std::function<aclError()>& call) {
    const aclrtContext context = support::CurrentContext();
    std::atomic<bool> returned{false};
    std::thread caller([&] {
        EXPECT_TRUE(support::IsOk(aclrtSetCurrentContext(context)));
        EXPECT_TRUE(support::IsError(ACL_ERROR_RT_STREAM_ABORT, call()));
        returned = true;
    });
    EXPECT_TRUE(support::Eventually([&] {
        EXPECT_EQ(aclrtStreamAbort(stream.Get()), ACL_SUCCESS);
        return returned.load();
    })) << "the waiting call does not return while the stream stands at the gate";
    gate.Open();
    caller.join();
}

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_ABORT_CALL_H_
