// SPDX-License-Identifier: Apache-2.0
// The rules that acl_rt.h states once, for the calls of captures, waits and callbacks.
#include <gtest/gtest.h>
#include <pthread.h>

#include <string>
#include <thread>

#include "acl/acl.h"
#include "conformance/captures.h"
#include "support/handles.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using support::IsError;
using support::IsOk;
using support::MakeStream;

struct Arguments {
    aclrtStream stream = nullptr;
    support::Event event = conformance::MakeCaptureEvent();  // recorded
    conformance::Notify notify = conformance::MakeNotify();
    conformance::Model model;
    support::DeviceBuffer word{std::vector<uint64_t>{1}};
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
    void* out = nullptr;

    Arguments() {
        EXPECT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
        const support::Stream captured = MakeStream();
        model = conformance::Capture(captured.Get(), [] {});
    }
};

struct RuleCase {
    std::string name;
    int nullCode;  // what a null stream is answered: by 0 where it is the default stream
    aclError (*call)(Arguments& a);
};

#define ADVSTEP_RULE(name, nullCode, ...)                                            \
    RuleCase {                                                                       \
#name, nullCode, [](Arguments & a) -> aclError { return name(__VA_ARGS__); } \
    }

class WaitRuleTest : public support::DeviceTest, public testing::WithParamInterface<RuleCase> {
 protected:
    static void ExpectRefused(int code, Arguments& arguments) {
        EXPECT_TRUE(IsError(code, GetParam().call(arguments), {GetParam().name + ": "}));
        EXPECT_EQ(arguments.out, nullptr);
        EXPECT_EQ(arguments.status, ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    }
};

TEST_P(WaitRuleTest, NeedsAContext) {
    Arguments arguments;
    const support::Stream stream = MakeStream();
    arguments.stream = stream.Get();
    std::thread([&arguments] { ExpectRefused(ACL_ERROR_RT_CONTEXT_NULL, arguments); }).join();
}

TEST_P(WaitRuleTest, RefusesAStreamOfAnotherContext) {
    const aclrtContext primary = support::CurrentContext();
    Arguments arguments;
    const support::Stream stream = MakeStream();
    arguments.stream = stream.Get();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    ExpectRefused(ACL_ERROR_RT_STREAM_CONTEXT, arguments);
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_P(WaitRuleTest, RefusesWhatIsNoStream) {
    Arguments arguments;
    const aclrtStream destroyed = MakeStream().Release();
    ASSERT_TRUE(IsOk(aclrtDestroyStream(destroyed)));
    int local = 0;
    for (void* const bad :
         {destroyed, arguments.event.Get(), arguments.notify.Get(), static_cast<void*>(&local),
          reinterpret_cast<void*>(uintptr_t{8}), reinterpret_cast<void*>(UINTPTR_MAX)}) {
        SCOPED_TRACE(testing::Message() << bad);
        arguments.stream = bad;
        ExpectRefused(ACL_ERROR_RT_INVALID_HANDLE, arguments);
    }
}

TEST_P(WaitRuleTest, NullIsTheDefaultStreamOrRefused) {
    Arguments arguments;
    if (GetParam().nullCode == ACL_SUCCESS) {
        EXPECT_TRUE(IsOk(GetParam().call(arguments)));
    } else {
        ExpectRefused(GetParam().nullCode, arguments);
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, WaitRuleTest,
    testing::Values(
        ADVSTEP_RULE(aclmdlRICaptureBegin, ACL_ERROR_INVALID_PARAM, a.stream, conformance::kGlobal),
        ADVSTEP_RULE(aclmdlRICaptureEnd, ACL_ERROR_INVALID_PARAM, a.stream, &a.out),
        ADVSTEP_RULE(aclmdlRICaptureGetInfo, ACL_ERROR_INVALID_PARAM, a.stream, &a.status, &a.out),
        ADVSTEP_RULE(aclmdlRICaptureTaskGrpBegin, ACL_ERROR_INVALID_PARAM, a.stream),
        ADVSTEP_RULE(aclmdlRICaptureTaskGrpEnd, ACL_ERROR_INVALID_PARAM, a.stream, &a.out),
        ADVSTEP_RULE(aclmdlRICaptureTaskUpdateEnd, ACL_ERROR_INVALID_PARAM, a.stream),
        ADVSTEP_RULE(aclmdlRIExecuteAsync, ACL_SUCCESS, a.model.Get(), a.stream),
        ADVSTEP_RULE(aclrtSynchronizeStreamWithTimeout, ACL_SUCCESS, a.stream, -1),
        ADVSTEP_RULE(aclrtStreamWaitEventWithTimeout, ACL_SUCCESS, a.stream, a.event.Get(), 1),
        ADVSTEP_RULE(aclrtStreamAbort, ACL_SUCCESS, a.stream),
        ADVSTEP_RULE(aclrtRecordNotify, ACL_SUCCESS, a.notify.Get(), a.stream),
        ADVSTEP_RULE(aclrtValueWrite, ACL_SUCCESS, a.word.Get(), 1, 0, a.stream),
        ADVSTEP_RULE(aclrtValueWait, ACL_SUCCESS, a.word.Get(), 1, ACL_STREAM_WAIT_VALUE_EQ,
                     a.stream),
        ADVSTEP_RULE(aclrtSubscribeReport, ACL_SUCCESS, static_cast<uint64_t>(pthread_self()),
                     a.stream),
        ADVSTEP_RULE(aclrtUnSubscribeReport, ACL_ERROR_RT_STREAM_NO_CB_REG,
                     static_cast<uint64_t>(pthread_self()), a.stream),
        ADVSTEP_RULE(aclrtLaunchCallback, ACL_ERROR_RT_STREAM_NO_CB_REG, &support::DoNothing,
                     nullptr, ACL_CALLBACK_NO_BLOCK, a.stream)),
    support::CaseName());

#undef ADVSTEP_RULE

class WaitRulesTest : public support::DeviceTest {};

TEST_F(WaitRulesTest, CallsWithoutAStreamNeedAContextToo) {
    std::thread([] {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDeviceWithTimeout(-1)));
        EXPECT_TRUE(IsOk(aclrtSetOpWaitTimeout(0))) << "but this one";
    }).join();
}

TEST_F(WaitRulesTest, TimedEventCallsRefuseWhatIsNoEvent) {
    const support::Stream stream = MakeStream();
    const aclrtEvent destroyed = support::MakeEvent().Release();
    ASSERT_TRUE(IsOk(aclrtDestroyEvent(destroyed)));
    for (void* const bad : {destroyed, stream.Get(), static_cast<void*>(nullptr)}) {
        const int code = bad == nullptr ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_RT_INVALID_HANDLE;
        EXPECT_TRUE(IsError(code, aclrtSynchronizeEventWithTimeout(bad, -1),
                            {"aclrtSynchronizeEventWithTimeout: "}));
        EXPECT_TRUE(IsError(code, aclrtStreamWaitEventWithTimeout(stream.Get(), bad, 1),
                            {"aclrtStreamWaitEventWithTimeout: "}));
    }
}

}  // namespace
