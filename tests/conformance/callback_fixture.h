// SPDX-License-Identifier: Apache-2.0
// What the tests of callbacks have in common. They are in this namespace, so that none lists the
// names that it uses.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_CALLBACK_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_CALLBACK_FIXTURE_H_

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/threads.h"
#include "support/waits.h"

namespace conformance {

using support::HostGate;
using support::IsError;
using support::IsOk;
using support::kLong;
using support::kShort;
using support::MakeStream;
using support::OnAnotherThread;
using support::Recorder;
using support::Stream;

constexpr aclrtCallbackBlockType kBlock = ACL_CALLBACK_BLOCK;
constexpr aclrtCallbackBlockType kNoBlock = ACL_CALLBACK_NO_BLOCK;

inline uint64_t Me() { return static_cast<uint64_t>(pthread_self()); }

class CallbackTest : public support::DeviceTest {
 protected:
    static void Subscribe(const Stream& stream) {
        EXPECT_TRUE(IsOk(aclrtSubscribeReport(Me(), stream.Get())));
    }
    static void Unsubscribe(const Stream& stream) {
        EXPECT_TRUE(IsOk(aclrtUnSubscribeReport(Me(), stream.Get())));
    }
    // Queues fn, which has to outlive the test's streams.
    aclError Launch(std::function<void()> fn, aclrtCallbackBlockType type, const Stream& stream) {
        kept_.push_back(std::make_unique<std::function<void()>>(std::move(fn)));
        return aclrtLaunchCallback(
            [](void* data) { (*static_cast<std::function<void()>*>(data))(); }, kept_.back().get(),
            type, stream.Get());
    }
    aclError LaunchMark(int value, aclrtCallbackBlockType type, const Stream& stream) {
        return Launch([recorder = recorder_, value] { recorder.MarkNow(value); }, type, stream);
    }

    Recorder recorder_;
    std::vector<std::unique_ptr<std::function<void()>>> kept_;
};

inline void Nothing(void*) {}

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_CALLBACK_FIXTURE_H_
