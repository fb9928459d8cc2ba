// SPDX-License-Identifier: Apache-2.0
// Work that goes on when its wait ends, after idleness and although no thread synchronises.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "conformance/callback_fixture.h"
#include "conformance/captures.h"

namespace conformance {
namespace {

// The library's threads look around for 100 ms after work. Then they sleep until they are called.
void LetThemSleep() { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }

class UnwatchedWakeTest : public CallbackTest {
 protected:
    void SetUp() override {
        CallbackTest::SetUp();
        stream_ = MakeStream();
    }

    Stream stream_;
};

TEST_F(UnwatchedWakeTest, AfterARecordOfANotify) {
    const Notify notify = MakeNotify();
    const Stream other = MakeStream();
    ASSERT_TRUE(IsOk(aclrtWaitAndResetNotify(notify.Get(), stream_.Get(), 0)));
    ASSERT_TRUE(IsOk(recorder_.Mark(stream_.Get(), 1)));
    HostGate gate(other.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(aclrtRecordNotify(notify.Get(), other.Get())));
    LetThemSleep();
    gate.Open();
    EXPECT_TRUE(recorder_.WaitFor(1));
}

TEST_F(UnwatchedWakeTest, AfterTheEndOfASubscription) {
    Subscribe(stream_);
    ASSERT_TRUE(IsOk(LaunchMark(1, kBlock, stream_)));
    ASSERT_TRUE(IsOk(recorder_.Mark(stream_.Get(), 2)));
    LetThemSleep();
    Unsubscribe(stream_);
    EXPECT_TRUE(recorder_.WaitFor(1));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{2}) << "the callback is dropped";
}

TEST_F(UnwatchedWakeTest, AfterACallback) {
    Subscribe(stream_);
    ASSERT_TRUE(IsOk(LaunchMark(1, kBlock, stream_)));
    ASSERT_TRUE(IsOk(recorder_.Mark(stream_.Get(), 2)));
    LetThemSleep();
    EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
    EXPECT_TRUE(recorder_.WaitFor(2));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2}));
    Unsubscribe(stream_);
}

}  // namespace
}  // namespace conformance
