// SPDX-License-Identifier: Apache-2.0
// Notifies: flags that streams set and take.
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "conformance/captures.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/waits.h"

namespace {

using conformance::MakeNotify;
using conformance::Notify;
using namespace support;

class NotifyTest : public support::DeviceTest {
 protected:
    static aclError Record(const Notify& notify, const Stream& stream) {
        return aclrtRecordNotify(notify.Get(), stream.Get());
    }
    static aclError Wait(const Notify& notify, const Stream& stream, uint32_t timeout = 0) {
        return aclrtWaitAndResetNotify(notify.Get(), stream.Get(), timeout);
    }
    // The stream does not get any further.
    // The stream waits until the notify is recorded elsewhere.
    static void ExpectWaitsFor(const Notify& notify, const Stream& stream) {
        ExpectWaits(stream);
        ASSERT_TRUE(IsOk(aclrtRecordNotify(notify.Get(), nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    }
    static void ExpectWaits(const Stream& stream) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                            aclrtSynchronizeStreamWithTimeout(stream.Get(), kShort)));
    }

    Recorder recorder_;
};

TEST_F(NotifyTest, TakesTheTwoFlags) {
    for (const uint64_t flag : {ACL_NOTIFY_DEFAULT, ACL_NOTIFY_DEVICE_USE_ONLY}) {
        const Stream stream = MakeStream();
        aclrtNotify notify = nullptr;
        ASSERT_TRUE(IsOk(aclrtCreateNotify(&notify, flag)));
        EXPECT_TRUE(IsOk(aclrtRecordNotify(notify, stream.Get())));
        EXPECT_TRUE(IsOk(aclrtWaitAndResetNotify(notify, stream.Get(), 0)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        EXPECT_TRUE(IsOk(aclrtDestroyNotify(notify)));
    }
}

// The flags lie in the same pages as blocks. The address sanitizer is told that they are in use
// again.
TEST_F(NotifyTest, TakesThePagesOfAFreedBlock) {
    DeviceBuffer freed(4096);
    const DeviceBuffer after(4096);
    EXPECT_TRUE(IsOk(aclrtFree(freed.Release())));
    std::vector<Notify> notifies;
    for (int i = 0; i < 200; ++i) {
        notifies.push_back(MakeNotify());
        ASSERT_NE(notifies.back().Get(), nullptr);
    }
}

TEST_F(NotifyTest, RefusesOtherFlags) {
    for (const uint64_t flag : {uint64_t{2}, uint64_t{3}, uint64_t{1} << 32, ~uint64_t{0}}) {
        aclrtNotify notify = nullptr;
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateNotify(&notify, flag),
                            {"aclrtCreateNotify: ", "flag"}));
        EXPECT_EQ(notify, nullptr);
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtCreateNotify(nullptr, ACL_NOTIFY_DEFAULT),
                        {"notify"}));
}

TEST_F(NotifyTest, RefusesNullAndWrongHandles) {
    const Stream stream = MakeStream();
    const support::Event event = support::MakeEvent();
    const aclrtNotify destroyed = MakeNotify().Release();
    ASSERT_TRUE(IsOk(aclrtDestroyNotify(destroyed)));
    const Notify live = MakeNotify();  // perhaps at the same place
    int local = 0;
    uint32_t id = 77;
    for (void* const bad : {destroyed, stream.Get(), event.Get(), static_cast<void*>(&local),
                            reinterpret_cast<void*>(uintptr_t{8}), static_cast<void*>(nullptr)}) {
        const int code = bad == nullptr ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_RT_INVALID_HANDLE;
        EXPECT_TRUE(IsError(code, aclrtRecordNotify(bad, stream.Get()), {"aclrtRecordNotify: "}));
        EXPECT_TRUE(IsError(code, aclrtWaitAndResetNotify(bad, stream.Get(), 0),
                            {"aclrtWaitAndResetNotify: "}));
        EXPECT_TRUE(IsError(code, aclrtDestroyNotify(bad), {"aclrtDestroyNotify: "}));
        EXPECT_TRUE(IsError(code, aclrtGetNotifyId(bad, &id), {"aclrtGetNotifyId: "}));
    }
    EXPECT_EQ(id, 77U);
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtGetNotifyId(live.Get(), nullptr), {"notifyId"}));
}

TEST_F(NotifyTest, IdsAreDifferent) {
    std::vector<Notify> notifies;
    std::set<uint32_t> ids;
    for (int i = 0; i < 100; ++i) {
        notifies.push_back(MakeNotify());
        uint32_t id = 0;
        ASSERT_TRUE(IsOk(aclrtGetNotifyId(notifies.back().Get(), &id)));
        EXPECT_TRUE(ids.insert(id).second) << id;
        uint32_t again = 0;
        ASSERT_TRUE(IsOk(aclrtGetNotifyId(notifies.back().Get(), &again)));
        EXPECT_EQ(again, id);
    }
}

TEST_F(NotifyTest, IsNotSetAtFirst) {
    const Stream stream = MakeStream();
    const Notify notify = MakeNotify();
    ASSERT_TRUE(IsOk(Wait(notify, stream)));
    ExpectWaitsFor(notify, stream);
}

TEST_F(NotifyTest, RecordBeforeTheWait) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Notify notify = MakeNotify();
    ASSERT_TRUE(IsOk(Record(notify, other)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    ASSERT_TRUE(IsOk(Wait(notify, stream)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(NotifyTest, RecordAfterTheWait) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Notify notify = MakeNotify();
    ASSERT_TRUE(IsOk(Wait(notify, stream)));
    ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 2)));
    ExpectWaits(stream);
    ASSERT_TRUE(IsOk(recorder_.Mark(other.Get(), 1)));
    ASSERT_TRUE(IsOk(Record(notify, other)));
    EXPECT_TRUE(recorder_.WaitFor(2)) << "without a synchronisation";
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2}));
}

TEST_F(NotifyTest, IsRecordedInStreamOrder) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Notify notify = MakeNotify();
    const HostGate gate(other.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(Record(notify, other)));
    ASSERT_TRUE(IsOk(Wait(notify, stream)));
    ExpectWaits(stream);
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

// A waiting thread runs the stream it waits for, and the record is in another one.
TEST_F(NotifyTest, TheWaiterNeedsNobodyToRunTheOtherStream) {
    for (int i = 0; i < 200; ++i) {
        const Stream stream = MakeStream();
        const Stream other = MakeStream();
        const Notify notify = MakeNotify();
        ASSERT_TRUE(IsOk(Wait(notify, stream)));
        ASSERT_TRUE(IsOk(Record(notify, other)));
        ASSERT_TRUE(IsOk(i % 2 == 0
                             ? aclrtSynchronizeStream(stream.Get())
                             : aclrtSynchronizeStreamWithTimeout(stream.Get(), support::kLong)));
    }
}

TEST_F(NotifyTest, OneRecordLetsOneWaitGoOn) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Notify notify = MakeNotify();
    for (int i = 1; i <= 3; ++i) {
        ASSERT_TRUE(IsOk(Wait(notify, stream)));
        ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), i)));
    }
    for (size_t i = 1; i <= 3; ++i) {
        ASSERT_TRUE(IsOk(Record(notify, other)));
        ASSERT_TRUE(recorder_.WaitFor(i));
        if (i < 3) {
            ExpectWaits(stream);
        }
        EXPECT_EQ(recorder_.Values().size(), i);
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(NotifyTest, OneRecordLetsOneOfTwoStreamsGoOn) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Stream other = MakeStream();
    const Notify notify = MakeNotify();
    ASSERT_TRUE(IsOk(Wait(notify, first)));
    ASSERT_TRUE(IsOk(recorder_.Mark(first.Get(), 1)));
    ASSERT_TRUE(IsOk(Wait(notify, second)));
    ASSERT_TRUE(IsOk(recorder_.Mark(second.Get(), 1)));
    ASSERT_TRUE(IsOk(Record(notify, other)));
    ASSERT_TRUE(recorder_.WaitFor(1));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(kShort)));
    EXPECT_EQ(recorder_.Values().size(), 1U);
    ASSERT_TRUE(IsOk(Record(notify, other)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    EXPECT_EQ(recorder_.Values().size(), 2U);
}

// It is a flag and no counter.
TEST_F(NotifyTest, TwoRecordsSetOneFlag) {
    const Stream stream = MakeStream();
    const Notify notify = MakeNotify();
    ASSERT_TRUE(IsOk(Record(notify, stream)));
    ASSERT_TRUE(IsOk(Record(notify, stream)));
    ASSERT_TRUE(IsOk(Wait(notify, stream)));
    ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 1)));
    ASSERT_TRUE(IsOk(Wait(notify, stream)));
    ASSERT_TRUE(recorder_.WaitFor(1));
    ExpectWaitsFor(notify, stream);
}

TEST_F(NotifyTest, ManyTurns) {
    const Stream ping = MakeStream();
    const Stream pong = MakeStream();
    const Notify there = MakeNotify();
    const Notify back = MakeNotify();
    std::vector<int> expected;
    for (int i = 0; i < 200; i += 2) {
        ASSERT_TRUE(IsOk(recorder_.Mark(ping.Get(), i)));
        ASSERT_TRUE(IsOk(Record(there, ping)));
        ASSERT_TRUE(IsOk(Wait(back, ping)));
        ASSERT_TRUE(IsOk(Wait(there, pong)));
        ASSERT_TRUE(IsOk(recorder_.Mark(pong.Get(), i + 1)));
        ASSERT_TRUE(IsOk(Record(back, pong)));
        expected.insert(expected.end(), {i, i + 1});
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(ping.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(pong.Get())));
    EXPECT_EQ(recorder_.Values(), expected);
}

TEST_F(NotifyTest, DestroyedWhileQueuedKeepsItsMeaning) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    Notify notify = MakeNotify();
    {
        const HostGate gate(other.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(recorder_.Mark(other.Get(), 1)));
        ASSERT_TRUE(IsOk(Record(notify, other)));
        ASSERT_TRUE(IsOk(Wait(notify, stream)));
        ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 2)));
        ASSERT_TRUE(IsOk(aclrtDestroyNotify(notify.Release())));
        const Notify next = MakeNotify();  // perhaps at the same place
        ASSERT_TRUE(IsOk(aclrtRecordNotify(next.Get(), nullptr)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        ExpectWaits(stream);
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2}));
}

TEST_F(NotifyTest, DestroyAndIdNeedNoContext) {
    const aclrtNotify notify = MakeNotify().Release();
    std::thread([notify] {
        uint32_t id = 0;
        aclrtNotify none = nullptr;
        EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateNotify(&none, 0)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtRecordNotify(notify, nullptr)));
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtWaitAndResetNotify(notify, nullptr, 0)));
        EXPECT_TRUE(IsOk(aclrtGetNotifyId(notify, &id)));
        EXPECT_TRUE(IsOk(aclrtDestroyNotify(notify)));
    }).join();
}

}  // namespace
