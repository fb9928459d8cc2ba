// SPDX-License-Identifier: Apache-2.0
// Tests of the tables of streams and contexts: lives, drains, failures, pending places.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "acl/acl_base.h"
#include "src/runtime/device/device.h"
#include "src/runtime/lifecycle/context_end.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/ticket.h"
#include "support/host_work.h"
#include "unit/runtime/stream/two_contexts.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

// Contexts of two devices that nobody else knows.
class StreamsTest : public unit::TwoContextsTest {
 protected:
    void SetUp() override {
        a_ = CreateContext(&deviceA_, false);
        b_ = CreateContext(&deviceB_, false);
    }
    void TearDown() override {
        EndContexts();
        TheWorkers().Stop();
    }

    static StreamRef DefaultOf(const ContextRef& context) {
        return {context.defaultStream, context.defaultStreamHandle, context.handle};
    }
    static StreamRef NewStream(const ContextRef& context) {
        Handle handle = 0;
        EXPECT_TRUE(Succeeds(CreateStream(context, 0, 0, &handle)));
        return {TheStreams().Find(handle), handle, context.handle};
    }

    // The callables stay until the test ends.
    Status Enqueue(const StreamRef& stream, std::function<Status()> function) {
        struct FunctionTask : Task {
            const std::function<Status()>* function;
        };
        kept_.push_back(std::make_unique<std::function<Status()>>(std::move(function)));
        const std::function<Status()>* const mine = kept_.back().get();
        return stream.Enqueue(sizeof(FunctionTask), [mine](void* memory) {
            auto* const task = new (memory) FunctionTask;
            task->run = [](const Task& base) {
                return (*static_cast<const FunctionTask&>(base).function)();
            };
            task->kind = TaskKind::kHostFunction;
            task->function = mine;
            return task;
        });
    }
    Status EnqueueFailure(const StreamRef& stream, int32_t code) {
        return Enqueue(stream, [code] { return Status(code, "told by a test"); });
    }

    Device deviceA_{0, Settings{}};
    Device deviceB_{1, Settings{}};
    std::vector<std::unique_ptr<std::function<Status()>>> kept_;
};

TEST_F(StreamsTest, ContextHasADefaultStream) {
    EXPECT_TRUE(a_.context->Alive(a_.handle));
    EXPECT_FALSE(a_.context->Alive(b_.handle));
    EXPECT_FALSE(a_.context->Alive(0));
    EXPECT_EQ(a_.device, &deviceA_);
    EXPECT_FALSE(a_.primary);
    EXPECT_TRUE(a_.alive());
    EXPECT_EQ(TheContexts().Find(a_.handle), a_.context);
    const StreamRef stream = DefaultOf(a_);
    EXPECT_TRUE(Succeeds(stream.stream->Check(stream.handle, a_.handle)));
    EXPECT_TRUE(
        FailsWith(ACL_ERROR_RT_STREAM_CONTEXT, stream.stream->Check(stream.handle, b_.handle)));
}

TEST_F(StreamsTest, StreamKeepsWhatItWasMadeWith) {
    Handle handle = 0;
    ASSERT_TRUE(Succeeds(CreateStream(a_, 5, 3, &handle)));
    StreamIdentity identity;
    ASSERT_TRUE(TheStreams().Find(handle)->BelongsTo(&deviceA_, a_.context, &identity));
    EXPECT_EQ(identity.handle, handle);
    EXPECT_EQ(identity.context.handle, a_.handle);
    EXPECT_EQ(identity.priority, 5U);
    EXPECT_EQ(identity.flags, 3U);
    StreamIdentity other;
    const StreamRef next = NewStream(a_);
    ASSERT_TRUE(next.stream->BelongsTo(nullptr, nullptr, &other));
    EXPECT_NE(other.id, identity.id);
}

TEST_F(StreamsTest, DestroyedStreamIsUnknown) {
    const StreamRef stream = NewStream(a_);
    EXPECT_TRUE(Succeeds(DestroyStream(stream, false)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, DestroyStream(stream, false)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, stream.Check()));
}

TEST_F(StreamsTest, DestroyedContextRunsItsWorkAndTakesItsStreamsAlong) {
    const StreamRef stream = NewStream(a_);
    const StreamRef others = NewStream(b_);
    std::atomic<int> count{0};
    const auto add = [&] { return ++count, Status(); };
    ASSERT_TRUE(Succeeds(Enqueue(stream, add)));
    ASSERT_TRUE(Succeeds(Enqueue(DefaultOf(a_), add)));
    EXPECT_TRUE(Succeeds(DestroyContext(a_)));
    EXPECT_EQ(count, 2);
    EXPECT_FALSE(a_.context->Alive(a_.handle));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, stream.Check()));
    EXPECT_TRUE(Succeeds(others.Check()));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_CONTEXT_NULL, DestroyContext(a_)));
    Handle handle = 0;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_CONTEXT_NULL, CreateStream(a_, 0, 0, &handle)));
    EXPECT_EQ(handle, 0U);
}

TEST_F(StreamsTest, HostFunctionCannotDestroyAContext) {
    Status own;
    Status other;
    ASSERT_TRUE(Succeeds(Enqueue(DefaultOf(a_), [&] {
        own = DestroyContext(a_);
        other = DestroyContext(b_);
        return Status();
    })));
    ASSERT_TRUE(Succeeds(DrainDevice(&deviceA_)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, own));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, other));
    EXPECT_TRUE(b_.context->Alive(b_.handle));
}

TEST_F(StreamsTest, DrainWaitsForOneDeviceOrForAll) {
    std::atomic<int> count{0};
    const auto add = [&] { return ++count, Status(); };
    ASSERT_TRUE(Succeeds(Enqueue(NewStream(a_), add)));
    ASSERT_TRUE(Succeeds(Enqueue(DefaultOf(a_), add)));
    EXPECT_TRUE(Succeeds(DrainDevice(&deviceA_)));
    EXPECT_EQ(count, 2);
    ASSERT_TRUE(Succeeds(Enqueue(DefaultOf(a_), add)));
    ASSERT_TRUE(Succeeds(Enqueue(DefaultOf(b_), add)));
    EXPECT_TRUE(Succeeds(DrainDevice(nullptr)));
    EXPECT_EQ(count, 4);
}

TEST_F(StreamsTest, DrainOfADeviceDoesNotWaitForAnother) {
    const support::Signal entered;
    const support::Signal opened;
    ASSERT_TRUE(Succeeds(Enqueue(DefaultOf(b_), [=] {
        entered.Set();
        EXPECT_TRUE(opened.Wait());
        return Status();
    })));
    EXPECT_TRUE(entered.Wait());
    EXPECT_TRUE(Succeeds(DrainDevice(&deviceA_)));
    EXPECT_FALSE(opened.IsSet());
    opened.Set();
}

TEST_F(StreamsTest, DeviceFailuresComeInTheOrderOfTheStreams) {
    const StreamRef first = NewStream(a_);
    const StreamRef second = NewStream(a_);
    ASSERT_TRUE(Succeeds(EnqueueFailure(DefaultOf(b_), 507014)));
    ASSERT_TRUE(Succeeds(EnqueueFailure(second, 507015)));
    ASSERT_TRUE(Succeeds(EnqueueFailure(first, 507035)));
    EXPECT_TRUE(FailsWith(507035, SynchronizeStreamsOf(&deviceA_)));
    EXPECT_TRUE(FailsWith(507015, SynchronizeStreamsOf(&deviceA_)));
    EXPECT_TRUE(Succeeds(SynchronizeStreamsOf(&deviceA_)));
    EXPECT_TRUE(FailsWith(507014, SynchronizeStreamsOf(&deviceB_)));
}

// A look at a device finds what is busy, whatever was idle at the look before.
TEST_F(StreamsTest, AStreamIsFoundAgainAfterItWasIdle) {
    std::vector<StreamRef> streams(130);  // more than two words of marks
    for (StreamRef& stream : streams) {
        stream = NewStream(a_);
    }
    for (const size_t index : {size_t{0}, size_t{129}, size_t{64}, size_t{129}}) {
        const support::Signal opened;
        ASSERT_TRUE(Succeeds(Enqueue(streams[index], [=] {
            EXPECT_TRUE(opened.Wait());
            return Status(507014, "told by a test");
        })));
        EXPECT_EQ(PendingPlaces(&deviceA_).size(), 1U);
        opened.Set();
        ASSERT_TRUE(Succeeds(DrainDevice(&deviceA_)));
        EXPECT_TRUE(PendingPlaces(&deviceA_).empty());
        EXPECT_TRUE(Succeeds(SynchronizeStreamsOf(&deviceB_)));
        EXPECT_TRUE(FailsWith(507014, SynchronizeStreamsOf(&deviceA_)));
        EXPECT_TRUE(Succeeds(SynchronizeStreamsOf(&deviceA_)));
    }
}

TEST_F(StreamsTest, PendingPlacesAreThoseWithWorkUnderWay) {
    ASSERT_TRUE(Succeeds(DrainDevice(nullptr)));
    EXPECT_TRUE(PendingPlaces(nullptr).empty());
    const support::Signal opened;
    const StreamRef held = NewStream(a_);
    ASSERT_TRUE(Succeeds(Enqueue(held, [=] {
        EXPECT_TRUE(opened.Wait());
        return Status();
    })));
    const std::vector<Ticket> places = PendingPlaces(nullptr);
    ASSERT_EQ(places.size(), 1U);
    EXPECT_EQ(places.front().stream, held.stream);
    EXPECT_EQ(places.front().sequence, held.stream->Now().sequence);
    opened.Set();
    EXPECT_TRUE(Succeeds(WaitFor(places.front())));
    EXPECT_TRUE(PendingPlaces(nullptr).empty());
}

TEST_F(StreamsTest, PendingPlacesOfADeviceAreThoseThatMayUseItsMemory) {
    const support::Signal opened;
    const StreamRef heldA = NewStream(a_);
    const StreamRef heldB = NewStream(b_);
    for (const StreamRef& held : {heldA, heldB}) {
        ASSERT_TRUE(Succeeds(Enqueue(held, [=] {
            EXPECT_TRUE(opened.Wait());
            return Status();
        })));
    }
    const auto expectOnly = [](const Device* device, const Ticket& place) {
        const std::vector<Ticket> places = PendingPlaces(device);
        ASSERT_EQ(places.size(), 1U);
        EXPECT_EQ(places.front().stream, place.stream);
        EXPECT_EQ(places.front().sequence, place.sequence);
    };
    expectOnly(&deviceA_, heldA.stream->Now());
    expectOnly(&deviceB_, heldB.stream->Now());
    EXPECT_EQ(PendingPlaces(nullptr).size(), 2U);
    // A task of B's stream that touches memory of another device, and one after it that does not.
    Work foreign(sizeof(Task));
    foreign.foreign = true;
    Ticket touching;
    for (const Work& work : {foreign, Work(sizeof(Task))}) {
        ASSERT_TRUE(Succeeds(heldB.Enqueue(
            work, [](void* memory) { return new (memory) Task; },
            work.foreign ? &touching : nullptr)));
    }
    const std::vector<Ticket> places = PendingPlaces(&deviceA_);
    ASSERT_EQ(places.size(), 2U);
    for (const Ticket& place : places) {
        const Ticket wanted = place.stream == heldB.stream ? touching : heldA.stream->Now();
        EXPECT_EQ(place.sequence, wanted.sequence);
    }
    opened.Set();
    ASSERT_TRUE(Succeeds(DrainDevice(nullptr)));
    EXPECT_TRUE(PendingPlaces(nullptr).empty());
}

}  // namespace
}  // namespace advstep
