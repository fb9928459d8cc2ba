// SPDX-License-Identifier: Apache-2.0
// Tests of the current context: threads, destroyed contexts, lookups.

#include "src/runtime/stream/current.h"

#include <gtest/gtest.h>

#include <thread>

#include "acl/acl_base.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/device/device.h"
#include "src/runtime/lifecycle/context_end.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream.h"
#include "unit/runtime/stream/two_contexts.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

class CurrentTest : public unit::TwoContextsTest {
 protected:
    void SetUp() override {
        SetCurrentContext({});
        a_ = CreateContext(&device_, false);
        b_ = CreateContext(&device_, false);
    }
    void TearDown() override {
        EndContexts();
        SetCurrentContext({});
    }

    Handle Current() {
        ContextRef current;
        return CurrentContext(&current).ok() ? current.handle : 0;
    }

    Device device_{0, Settings{}};
};

TEST_F(CurrentTest, ThreadStartsWithoutAContext) {
    ContextRef current;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_CONTEXT_NULL, CurrentContext(&current),
                          {"no current context", "aclrtSetDevice"}));
    StreamRef stream;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_CONTEXT_NULL, FindStream(nullptr, &stream)));
}

TEST_F(CurrentTest, TheOneSetLastIsCurrent) {
    SetCurrentContext(a_);
    EXPECT_EQ(Current(), a_.handle);
    SetCurrentContext(b_);
    EXPECT_EQ(Current(), b_.handle);
}

TEST_F(CurrentTest, EveryThreadHasItsOwn) {
    SetCurrentContext(a_);
    std::thread([this] {
        EXPECT_EQ(Current(), 0U);
        SetCurrentContext(b_);
        EXPECT_EQ(Current(), b_.handle);
    }).join();
    EXPECT_EQ(Current(), a_.handle);
}

TEST_F(CurrentTest, DestroyedContextIsNoneAndStaysNone) {
    SetCurrentContext(a_);
    EXPECT_TRUE(Succeeds(DestroyContext(a_)));
    EXPECT_EQ(Current(), 0U);
    const ContextRef reused = CreateContext(&device_, false);
    EXPECT_EQ(reused.context, a_.context);  // the object lives again under another handle
    EXPECT_EQ(Current(), 0U);
    EXPECT_TRUE(Succeeds(DestroyContext(reused)));
}

TEST_F(CurrentTest, OnlyTheNamedContextIsForgotten) {
    SetCurrentContext(a_);
    ForgetCurrentContext(b_.handle);
    EXPECT_EQ(Current(), a_.handle);
    ForgetCurrentContext(a_.handle);
    EXPECT_EQ(Current(), 0U);
}

TEST_F(CurrentTest, KeptContextComesBack) {
    SetCurrentContext(a_);
    {
        const CurrentContextScope scope(b_);
        EXPECT_EQ(Current(), b_.handle);
        SetCurrentContext({});
    }
    EXPECT_EQ(Current(), a_.handle);
}

TEST_F(CurrentTest, FindsLiveContextsOnly) {
    ContextRef found;
    EXPECT_TRUE(Succeeds(FindContext(ToPointer(a_.handle), &found)));
    EXPECT_EQ(found.context, a_.context);
    EXPECT_EQ(found.handle, a_.handle);
    EXPECT_EQ(found.device, &device_);
    EXPECT_EQ(found.defaultStream, a_.defaultStream);
    EXPECT_EQ(found.defaultStreamHandle, a_.defaultStreamHandle);
    EXPECT_FALSE(found.primary);
    const Handle stream = a_.defaultStreamHandle;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, FindContext(nullptr, &found)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, FindContext(ToPointer(stream), &found)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, FindContext(&found, &found)));
    EXPECT_TRUE(Succeeds(DestroyContext(a_)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, FindContext(ToPointer(a_.handle), &found)));
}

TEST_F(CurrentTest, NullStreamIsTheDefaultOne) {
    SetCurrentContext(b_);
    StreamRef stream;
    EXPECT_TRUE(Succeeds(FindStream(nullptr, &stream)));
    EXPECT_EQ(stream.stream, b_.defaultStream);
    EXPECT_EQ(stream.handle, b_.defaultStreamHandle);
    EXPECT_EQ(stream.caller, b_.handle);
}

TEST_F(CurrentTest, FoundStreamCarriesTheCaller) {
    SetCurrentContext(b_);
    StreamRef stream;
    const Handle others = a_.defaultStreamHandle;
    EXPECT_TRUE(Succeeds(FindStream(ToPointer(others), &stream)));
    EXPECT_EQ(stream.handle, others);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_STREAM_CONTEXT, stream.Check()));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, FindStream(&stream, &stream)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, FindStream(ToPointer(b_.handle), &stream)));
}

TEST_F(CurrentTest, FindsEventsByKind) {
    const auto entry = TheEvents().Acquire();
    entry.object->Open(entry.handle, Event::Traits{});
    Event* event = nullptr;
    EXPECT_TRUE(Succeeds(FindEvent(ToPointer(entry.handle), &event)));
    EXPECT_EQ(event, entry.object);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, FindEvent(nullptr, &event)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_HANDLE, FindEvent(ToPointer(a_.handle), &event)));
    EXPECT_TRUE(Succeeds(event->Close(entry.handle)));
    TheEvents().Release(event);
}

}  // namespace
}  // namespace advstep
