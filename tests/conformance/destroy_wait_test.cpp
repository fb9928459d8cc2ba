// SPDX-License-Identifier: Apache-2.0
// A destruction that waits for a stream's work: who may end that work, and how.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "acl/acl.h"
#include "conformance/captures.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using namespace support;

// Has another thread destroy the stream, with this one's context. Returns when the handle is gone.
std::thread BeginDestruction(aclrtStream stream) {
    std::thread destroyer([stream, context = support::CurrentContext()] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        EXPECT_TRUE(IsOk(aclrtDestroyStream(stream)));
    });
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    while (aclrtStreamQuery(stream, &status) == ACL_SUCCESS) {
        std::this_thread::yield();
    }
    return destroyer;
}

class DestroyWaitTest : public support::DeviceTest {
 protected:
    // Destroys a stream that waits for what never comes, and calls `end` when the destruction
    // waits too.
    void DestroyParked(aclError (*end)(aclrtStream)) {
        const conformance::Notify never = conformance::MakeNotify();
        const Recorder recorder;
        Stream stream = MakeStream();
        const aclrtStream parked = stream.Release();
        ASSERT_TRUE(IsOk(aclrtWaitAndResetNotify(never.Get(), parked, 0)));
        ASSERT_TRUE(IsOk(recorder.Mark(parked, 1)));
        std::thread destroyer = BeginDestruction(parked);
        EXPECT_TRUE(IsOk(end(parked)));
        destroyer.join();
        EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_HANDLE, end(parked)));
        EXPECT_TRUE(recorder.Values().empty()) << "what was not begun is not run";
        EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    }
};

TEST_F(DestroyWaitTest, AnAbortEndsIt) { DestroyParked(aclrtStreamAbort); }

TEST_F(DestroyWaitTest, AForcedDestructionEndsIt) { DestroyParked(aclrtDestroyStreamForce); }

TEST_F(DestroyWaitTest, ASecondOrdinaryDestructionIsRefused) {
    const support::HostGate gate(nullptr);
    Stream stream = MakeStream();
    const aclrtStream held = stream.Release();
    ASSERT_TRUE(gate.WaitEntered());
    const support::Event event = support::MakeEvent();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(held, event.Get())));
    std::thread destroyer = BeginDestruction(held);
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(held)));
    gate.Open();
    destroyer.join();
}

// The synchronisation still waits for another stream when this one ends.
TEST_F(DestroyWaitTest, ASynchronisationOfTheDeviceReportsTheFailure) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_LOG", "off"}}));
    const aclrtContext context = support::CurrentContext();
    const Stream held = MakeStream();
    int code = ACL_SUCCESS;
    const auto until = std::chrono::steady_clock::now() + support::kPatience;
    // A synchronisation that comes too late finds the stream no more.
    while (code == ACL_SUCCESS && std::chrono::steady_clock::now() < until) {
        Stream stream = MakeStream();
        ASSERT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
        const support::HostGate gate(held.Get());
        std::thread waiter([&] {
            EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            code = aclrtSynchronizeDevice();
        });
        std::this_thread::yield();
        EXPECT_TRUE(IsOk(aclrtDestroyStream(stream.Release())));
        gate.Open();
        waiter.join();
    }
    EXPECT_EQ(code, ACL_ERROR_FAILURE);
}

}  // namespace
