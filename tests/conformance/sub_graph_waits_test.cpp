// SPDX-License-Identifier: Apache-2.0
// Waits that cannot end: a host function of a sub-graph waits for its own replay, or the thread
// that has to run a callback of the sub-graph does.
#include <pthread.h>

#include <atomic>

#include "conformance/conditional_fixture.h"
#include "support/waits.h"

namespace conformance {
namespace {

class SubGraphWaitsTest : public ConditionalTest {
 protected:
    // Each call would wait for the host function that makes it.
    void CallFromInside(aclrtStream parent, aclrtEvent behind) {
        for (const aclError code :
             {aclrtDestroyStreamForce(parent), aclrtDestroyStream(parent),
              aclrtSynchronizeStream(parent), aclrtSynchronizeStreamWithTimeout(parent, 60'000),
              aclrtSynchronizeEvent(behind), aclrtSynchronizeDevice()}) {
            EXPECT_EQ(code, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
            ++refused_;
        }
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDestroyStreamForce(parent),
                            {"aclrtDestroyStreamForce: ", "running the host function"}));
    }
    // As above, in the sub-graph of a sub-graph, and in a branch of it.
    Model CaptureCalls(const Stream& stream, const Event& behind) {
        aclrtStream const parent = stream.Get();
        aclrtEvent const event = behind.Get();
        const auto calls = [this, parent, event](const Stream& body) {
            EXPECT_TRUE(IsOk(support::Enqueue(
                body.Get(), [this, parent, event] { CallFromInside(parent, event); })));
        };
        Begin(stream.Get(), kRelaxed);
        Mark(stream, 0);
        Add(stream, MakeCondition(stream, 1), kIf, {[&](const Stream& body) {
                calls(body);
                Add(body, MakeCondition(body, 1), kIf, {[&](const Stream& inner) {
                        const Stream side = MakeStream();
                        Order(inner, side);
                        calls(side);
                        Order(side, inner);
                        Mark(inner, 1);
                    }});
                Mark(body, 2);
            }});
        Mark(stream, 3);
        return End(stream.Get());
    }

    std::atomic<int> refused_{0};
};

TEST_F(SubGraphWaitsTest, RefusesToWaitForOrDestroyTheStreamOfTheReplay) {
    Stream stream = MakeStream();
    const Event behind = support::MakeEvent();
    const Model model = CaptureCalls(stream, behind);
    std::vector<int> expected;
    for (const bool watched : {true, false}) {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        ASSERT_TRUE(IsOk(aclrtRecordEvent(behind.Get(), stream.Get())));
        gate.Open();
        expected.insert(expected.end(), {0, 1, 2, 3});
        if (watched) {  // else the workers run it
            EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        }
        EXPECT_TRUE(recorder_.WaitFor(expected.size()));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        EXPECT_EQ(recorder_.Values(), expected);
    }
    EXPECT_EQ(refused_, 2 * 2 * 6);
    EXPECT_TRUE(IsOk(aclrtDestroyStream(stream.Release())));
}

// Another thread destroys the stream meanwhile, which drops what has not begun.
TEST_F(SubGraphWaitsTest, TheStreamGoesWhileASubGraphAsksForIt) {
    for (int round = 0; round < 20; ++round) {
        Stream stream = MakeStream();
        aclrtStream const parent = stream.Get();
        const Signal inside;
        const Signal dropped;
        Begin(stream.Get(), kRelaxed);
        Add(stream, MakeCondition(stream, 1), kWhile, {[&](const Stream& body) {
                EXPECT_TRUE(IsOk(support::Enqueue(body.Get(), [=] {
                    inside.Set();
                    EXPECT_EQ(aclrtDestroyStreamForce(parent), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
                })));
            }});
        const Model model = End(stream.Get());
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        ASSERT_TRUE(inside.Wait());
        EXPECT_TRUE(IsOk(aclrtDestroyStreamForce(stream.Release())));
    }
}

// The stream no longer waits for the sub-graph in a record of its own, but the last record of the
// conditional task does.
TEST_F(SubGraphWaitsTest, RefusesAlsoAfterAnAbort) {
    const Stream stream = MakeStream();
    aclrtStream const parent = stream.Get();
    Begin(stream.Get(), kRelaxed);
    Add(stream, MakeCondition(stream, 1), kIf, {[&](const Stream& body) {
            EXPECT_TRUE(IsOk(support::Enqueue(body.Get(), [this, parent] {
                EXPECT_TRUE(IsOk(aclrtStreamAbort(parent)));
                EXPECT_EQ(aclrtSynchronizeStream(parent), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
                recorder_.MarkNow(1);
            })));
        }});
    const Model model = End(stream.Get());
    for (size_t round = 1; round <= 20; ++round) {
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        EXPECT_TRUE(
            recorder_.WaitFor(round));  // after the abort, which a synchronisation would tell
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        EXPECT_EQ(recorder_.Values().size(), round);
    }
}

// The second round stands in a branch of a sub-graph, which stands in the loop.
TEST_F(SubGraphWaitsTest, TheThreadOfACallbackInASubGraphMayNotWait) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const Event behind = support::MakeEvent();
    const auto self = static_cast<uint64_t>(pthread_self());
    ASSERT_TRUE(IsOk(aclrtSubscribeReport(self, side.Get())));
    Begin(stream.Get(), kRelaxed);
    const auto loop = MakeCondition(stream, 2);
    Add(stream, loop, kWhile, {[&](const Stream& body) {
            Add(body, MakeCondition(body, 1), kIf, {[&](const Stream& inner) {
                    Order(inner, side);
                    EXPECT_TRUE(IsOk(aclrtLaunchCallback(
                        [](void* recorder) { static_cast<Recorder*>(recorder)->MarkNow(1); },
                        &recorder_, ACL_CALLBACK_BLOCK, side.Get())));
                    Order(side, inner);
                }});
            CountDown(body, Variable(loop));
        }});
    Mark(stream, 2);
    Model model = End(stream.Get());
    ASSERT_TRUE(IsOk(Queue(model, stream)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(behind.Get(), stream.Get())));
    constexpr int kRefused = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    for (int round = 0; round < 2; ++round) {
        EXPECT_TRUE(IsError(kRefused, aclrtSynchronizeStream(stream.Get()),
                            {"aclrtSynchronizeStream: ", "aclrtProcessReport"}));
        EXPECT_TRUE(IsError(kRefused, aclrtSynchronizeStreamWithTimeout(stream.Get(), -1)));
        EXPECT_TRUE(IsError(kRefused, aclrtSynchronizeEvent(behind.Get())));
        EXPECT_TRUE(IsError(kRefused, aclrtSynchronizeDevice()));
        EXPECT_TRUE(IsError(kRefused, aclrtDestroyStream(stream.Get())));
        EXPECT_TRUE(IsError(kRefused, aclrtResetDeviceForce(0)));
        EXPECT_TRUE(IsError(kRefused, aclFinalize()));
        EXPECT_TRUE(IsOk(aclrtProcessReport(-1)));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsError(kRefused, aclmdlRIExecute(model.Get(), -1)));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model.Release()))) << "the refused replay was dropped";
    EXPECT_TRUE(IsOk(aclrtUnSubscribeReport(self, side.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 1, 2}));
}

// The stream of a sub-graph's capture is gone, and a thread is subscribed to that of the replay.
TEST_F(SubGraphWaitsTest, ACallbackGoesToTheThreadOfTheReplaysStream) {
    const Stream stream = MakeStream();
    const auto self = static_cast<uint64_t>(pthread_self());
    Begin(stream.Get(), kRelaxed);
    Add(stream, MakeCondition(stream, 1), kIf, {[&](const Stream& body) {
            Add(body, MakeCondition(body, 1), kIf, {[&](const Stream& inner) {
                    EXPECT_TRUE(IsOk(aclrtSubscribeReport(self, inner.Get())));
                    EXPECT_TRUE(IsOk(aclrtLaunchCallback(
                        [](void* recorder) { static_cast<Recorder*>(recorder)->MarkNow(1); },
                        &recorder_, ACL_CALLBACK_BLOCK, inner.Get())));
                }});
        }});
    const Model model = End(stream.Get());
    ASSERT_TRUE(IsOk(aclrtSubscribeReport(self, stream.Get())));
    ASSERT_TRUE(IsOk(Queue(model, stream)));
    EXPECT_TRUE(IsOk(aclrtProcessReport(support::kLong)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
    EXPECT_TRUE(IsOk(aclrtUnSubscribeReport(self, stream.Get())));
}

}  // namespace
}  // namespace conformance
