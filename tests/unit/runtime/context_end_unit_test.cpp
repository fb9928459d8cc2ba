// SPDX-License-Identifier: Apache-2.0
// The end of the runtime and a context that another thread ends.

#include "src/runtime/lifecycle/context_end.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <thread>

#include "acl/acl.h"
#include "src/runtime/stream/current.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/status.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using support::IsOk;
using unit::Succeeds;

class ContextEndTest : public support::DeviceTest {};

// The thread that ends the context waits for a callback that only this thread could process, and
// this thread waits for that end.
TEST_F(ContextEndTest, AWaitForEndsDropsTheCallbacksOfTheWaitingThread) {
    const auto self = static_cast<uint64_t>(pthread_self());
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    ContextRef reference;
    ASSERT_TRUE(Succeeds(CurrentContext(&reference)));
    ASSERT_TRUE(IsOk(aclrtSubscribeReport(self, nullptr)));
    bool ran = false;
    ASSERT_TRUE(IsOk(aclrtLaunchCallback([](void* done) { *static_cast<bool*>(done) = true; }, &ran,
                                         ACL_CALLBACK_BLOCK, nullptr)));
    std::thread ender([&] { EXPECT_TRUE(Succeeds(DestroyContext(reference, false))); });
    while (reference.alive()) {
        std::this_thread::yield();
    }
    EXPECT_TRUE(WaitForContextEnds());
    ender.join();
    EXPECT_FALSE(ran);
    EXPECT_FALSE(WaitForContextEnds()) << "there is no other";
}

}  // namespace
}  // namespace advstep
