// SPDX-License-Identifier: Apache-2.0
// Work on other threads.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_THREADS_H_
#define ADVANCE_STEP_TESTS_SUPPORT_THREADS_H_

#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/status.h"

namespace support {

// Calls fn on another thread, with the current context, and waits for its end.
template <class Function>
void OnAnotherThread(Function fn) {
    const aclrtContext context = CurrentContext();
    std::thread([&] {
        ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        fn();
    }).join();
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_THREADS_H_
