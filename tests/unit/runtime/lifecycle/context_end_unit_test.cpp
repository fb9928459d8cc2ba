// SPDX-License-Identifier: Apache-2.0
// The end of the runtime and a context that another thread ends.

#include "src/runtime/lifecycle/context_end.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <thread>

#include "acl/acl.h"
#include "src/runtime/stream/current.h"
#include "support/fork.h"
#include "support/handles.h"
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

// The thread must not wait for its own callback, so the context ends with a replay under way.
TEST_F(ContextEndTest, AReplayEndsBeforeItsModelGoes) {
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    ContextRef reference;
    ASSERT_TRUE(Succeeds(CurrentContext(&reference)));
    const aclrtStream stream = support::MakeStream().Release();
    const support::Signal go;
    bool ran = false;
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED)));
    ASSERT_TRUE(IsOk(support::Enqueue(stream, [go, &ran] { ran = go.Wait(); })));
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream, &model)));
    ASSERT_TRUE(IsOk(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream)));
    ASSERT_TRUE(IsOk(aclrtLaunchCallback([](void*) { ADD_FAILURE() << "it is dropped"; }, nullptr,
                                         ACL_CALLBACK_BLOCK, stream)));
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream)));
    std::thread opener([&] {
        EXPECT_TRUE(
            support::Eventually([&] { return !reference.alive() && support::OthersSleep(); }));
        go.Set();
    });
    EXPECT_TRUE(Succeeds(DestroyContext(reference, true)));
    EXPECT_TRUE(ran);
    opener.join();
    EXPECT_EQ(aclmdlRIDestroy(model), ACL_ERROR_RT_INVALID_HANDLE);
}

}  // namespace
}  // namespace advstep
