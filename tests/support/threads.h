// SPDX-License-Identifier: Apache-2.0
// Work on other threads.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_THREADS_H_
#define ADVANCE_STEP_TESTS_SUPPORT_THREADS_H_

#include <gtest/gtest.h>
#include <pthread.h>

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

// Calls fn on a thread whose cancellation is pending. fn must return, and then the thread must end
// by the cancellation.
template <class Function>
void OnACancelledThread(Function fn) {
    struct Call {
        Function& fn;
        bool returned;
    } call{fn, false};
    pthread_t thread{};
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void* pointer) -> void* {
                      auto& my = *static_cast<Call*>(pointer);
                      (void)pthread_cancel(pthread_self());
                      my.fn();
                      my.returned = true;
                      pthread_testcancel();
                      return nullptr;
                  },
                  &call),
              0);
    void* result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, PTHREAD_CANCELED);
    EXPECT_TRUE(call.returned);
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_THREADS_H_
