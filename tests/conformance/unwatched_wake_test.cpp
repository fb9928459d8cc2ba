// SPDX-License-Identifier: Apache-2.0
// Work that goes on when its wait ends, after idleness and although no thread synchronises.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "conformance/callback_fixture.h"
#include "conformance/captures.h"
#include "support/tasks.h"

namespace conformance {
namespace {

class UnwatchedWakeTest : public CallbackTest {
 protected:
    void SetUp() override {
        if (support::DoingOf("/proc/thread-self").empty()) {
            GTEST_SKIP() << "the kernel does not tell what threads do";
        }
        before_ = support::Tasks();
        CallbackTest::SetUp();
        stream_ = MakeStream();
        const Recorder begun;
        ASSERT_TRUE(IsOk(begun.Mark(stream_.Get(), 0)));
        ASSERT_TRUE(begun.WaitFor(1)) << "the library's threads are there, and look around";
    }
    // The library's threads look around for a while after work, and then sleep until they are
    // called; those at gates of the test do not.
    void LetThemSleep(size_t atGates = 0) const {
        EXPECT_TRUE(support::ComeToSleep(before_, atGates));
    }

    std::set<std::string> before_;  // the test's own threads, and a sanitizer's
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
    LetThemSleep(1);
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
