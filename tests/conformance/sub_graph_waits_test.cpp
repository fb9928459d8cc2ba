// SPDX-License-Identifier: Apache-2.0
// Host functions of sub-graphs that wait for the stream of their own replay, or destroy it.
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

}  // namespace
}  // namespace conformance
