// SPDX-License-Identifier: Apache-2.0
// Events that several processes have.
#include <cstring>
#include <string>

#include "conformance/sharing.h"
#include "support/host_work.h"

namespace conformance {
namespace {

using SharedSyncTest = SharingTest;

// There. at[0]: the event.
void OpenEvent(Words* w) {
    aclrtIpcEventHandle handle;
    std::memcpy(&handle, w->text, sizeof(handle));
    aclrtEvent event = nullptr;
    Keep(w, aclrtIpcOpenEventHandle(handle, &event));
    w->Set(0, event);
}
void RecordEvent(Words* w) { Keep(w, aclrtRecordEvent(w->Pointer(0), nullptr)); }
void Release(Words* w) {
    aclrtStream stream = nullptr;
    Keep(w, aclrtCreateStream(&stream)) && Keep(w, aclrtValueWrite(w->Pointer(1), 1, 0, stream)) &&
        Keep(w, aclrtDestroyStream(stream));
}
void SynchronizeEvent(Words* w) { Keep(w, aclrtSynchronizeEvent(w->Pointer(0))); }

// Here.
support::Event MakeShared() { return support::MakeEventExWithFlag(ACL_EVENT_IPC); }
Words HandleOf(aclrtEvent event) {
    aclrtIpcEventHandle handle{};
    EXPECT_TRUE(IsOk(aclrtIpcGetEventHandle(event, &handle)));
    Words words;
    std::memcpy(words.text, &handle, sizeof(handle));
    return words;
}
aclrtEventRecordedStatus StatusOf(aclrtEvent event) {
    auto status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_TRUE(IsOk(aclrtQueryEventStatus(event, &status)));
    return status;
}

TEST_F(SharedSyncTest, AStreamWaitsForARecordOfAnotherProcess) {
    const support::Event event = MakeShared();
    EXPECT_EQ(StatusOf(event.Get()), ACL_EVENT_RECORDED_STATUS_COMPLETE) << "never recorded";
    Words there = other_.Run(&OpenEvent, HandleOf(event.Get()));
    ASSERT_TRUE(Gave(0, there));
    for (int i = 0; i < 2; ++i) {
        there = other_.Run(&HoldAndRecordEvent, there);
        ASSERT_TRUE(Gave(0, there));
        EXPECT_EQ(StatusOf(event.Get()), ACL_EVENT_RECORDED_STATUS_NOT_READY);
        EXPECT_TRUE(IsError(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
                            aclrtSynchronizeEventWithTimeout(event.Get(), 20), {"20"}));
        const support::Stream stream = support::MakeStream();
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), event.Get())));
        EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream.Get(), 20),
                  ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        ASSERT_TRUE(Gave(0, other_.Run(&Release, there)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        EXPECT_EQ(StatusOf(event.Get()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    }
}

// A later record that completes first does not stand for an earlier one.
TEST_F(SharedSyncTest, EachWaitIsForTheRecordThatWasTheLatest) {
    const support::Event event = MakeShared();
    Words there = other_.Run(&OpenEvent, HandleOf(event.Get()));
    there = other_.Run(&HoldAndRecordEvent, there);
    const support::Stream stream = support::MakeStream();
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), event.Get())));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get()))) << "this process's own record";
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream.Get(), 20),
              ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    ASSERT_TRUE(Gave(0, other_.Run(&Release, there)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

// The wait is refused before anything else, so the stream is not held up by it.
TEST_F(SharedSyncTest, AHostFunctionMayNotWaitForTheOtherProcess) {
    const support::Event event = MakeShared();
    Words there = other_.Run(&OpenEvent, HandleOf(event.Get()));
    there = other_.Run(&HoldAndRecordEvent, there);
    ASSERT_TRUE(Gave(0, there));
    aclError status = ACL_SUCCESS;
    std::string message;
    ASSERT_TRUE(IsOk(support::Enqueue(nullptr, [&] {
        status = aclrtSynchronizeEventWithTimeout(event.Get(), 1000);
        message = support::TakeMessage();
    })));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_NE(message.find("inside a host function"), std::string::npos) << message;
    ASSERT_TRUE(Gave(0, other_.Run(&Release, there)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
}

TEST_F(SharedSyncTest, ManyRecordsOfBothProcesses) {
    const support::Event event = MakeShared();
    const Words there = other_.Run(&OpenEvent, HandleOf(event.Get()));
    for (int i = 0; i < 400; ++i) {
        if (i % 3 == 0) {
            ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
            ASSERT_TRUE(Gave(0, other_.Run(&SynchronizeEvent, there)));
        } else {
            ASSERT_TRUE(Gave(0, other_.Run(&RecordEvent, there)));
            ASSERT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
        }
    }
    // Those of a process that is killed are never complete, and bar nobody's way.
    ASSERT_TRUE(Gave(0, other_.Run(&HoldAndRecordEvent, there)));
    other_.Kill();
    for (int i = 0; i < 400; ++i) {
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    }
}

TEST_F(SharedSyncTest, TheMakerOfAnEventIsGone) {
    Words there = other_.Run([](Words* w) {
        aclrtEvent event = nullptr;
        aclrtIpcEventHandle handle{};
        Keep(w, aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC)) &&
            Keep(w, aclrtIpcGetEventHandle(event, &handle));
        std::memcpy(w->text, &handle, sizeof(handle));
    });
    Words own = there;
    OpenEvent(&own);
    ASSERT_TRUE(Gave(0, own));
    other_.Kill();
    EXPECT_TRUE(IsOk(aclrtRecordEvent(own.Pointer(0), nullptr)));
    OpenEvent(&there);
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, there));
}

// The latest record is this process's own, but not one of this object.
TEST_F(SharedSyncTest, AnEventThatItsMakerOpens) {
    const support::Event event = MakeShared();
    Words own = HandleOf(event.Get());
    OpenEvent(&own);
    ASSERT_TRUE(Gave(0, own));
    const support::Event opened(own.Pointer(0));
    aclrtIpcEventHandle handle{};
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcGetEventHandle(opened.Get(), &handle),
                        {"event 0x", " is of aclrtIpcOpenEventHandle; expected one of "}));
    const support::HostGate gate(nullptr);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    for (const support::Event* const each : {&event, &opened}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
                            aclrtSynchronizeEventWithTimeout(each->Get(), 10),
                            {"event 0x",
                             " is not complete after the timeout of 10 ms; expected it "
                             "to complete before"}));
    }
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(opened.Get())));
}

TEST_F(SharedSyncTest, WhatSuchAnEventIsNotFor) {
    const support::Event event = MakeShared();
    const support::Event plain = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    constexpr int kNot = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    aclrtEventStatus status{};
    aclrtEventWaitStatus waits{};
    float milliseconds = 0;
    uint64_t stamp = 0;
    uint32_t id = 0;
    EXPECT_TRUE(IsError(kNot, aclrtResetEvent(event.Get(), nullptr), {"event"}));
    EXPECT_TRUE(IsError(kNot, aclrtQueryEvent(event.Get(), &status), {"event"}));
    EXPECT_TRUE(IsError(kNot, aclrtQueryEventWaitStatus(event.Get(), &waits), {"event"}));
    EXPECT_TRUE(IsError(kNot, aclrtEventElapsedTime(&milliseconds, event.Get(), event.Get()),
                        {"startEvent"}));
    EXPECT_TRUE(IsError(kNot, aclrtEventGetTimestamp(event.Get(), &stamp), {"event"}));
    EXPECT_TRUE(IsError(kNot, aclrtGetEventId(event.Get(), &id), {"event"}));
    aclrtIpcEventHandle handle{};
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcGetEventHandle(plain.Get(), &handle),
                        {"event 0x", " is not of ACL_EVENT_IPC; expected one of "}));
    aclrtEvent made = nullptr;
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcOpenEventHandle(handle, &made), {"key"}));
    ASSERT_TRUE(IsOk(aclrtIpcGetEventHandle(event.Get(), &handle)));
    char& digit = handle.reserved[std::strlen(handle.reserved) - 1];
    digit = digit == '0' ? '1' : '0';  // the key of no export
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcOpenEventHandle(handle, &made),
                        {"aclrtIpcOpenEventHandle: handle is "}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtCreateEventExWithFlag(&made, ACL_EVENT_IPC | ACL_EVENT_SYNC),
                        {"0x41"}));
    EXPECT_EQ(made, nullptr);
    const support::Stream stream = support::MakeStream();
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)));
    EXPECT_TRUE(IsError(kNot, aclrtRecordEvent(event.Get(), stream.Get()), {"ACL_EVENT_IPC"}));
    EXPECT_TRUE(IsCode(kNot, aclrtStreamWaitEvent(stream.Get(), event.Get())));
    aclmdlRI model = nullptr;
    aclmdlRICaptureEnd(stream.Get(), &model);
}

}  // namespace
}  // namespace conformance
