// SPDX-License-Identifier: Apache-2.0
// aclrtStreamAbort of a stream that stands at a wait without an end.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "conformance/captures.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"
#include "support/waits.h"

namespace {

using support::Event;
using support::HostGate;
using support::IsError;
using support::IsOk;
using support::MakeEvent;
using support::MakeStream;
using support::Recorder;
using support::Stream;

// The stream stands at a wait that nobody will ever end.
struct StuckCase {
    std::string name;
    std::function<aclError(aclrtStream stream, aclrtEvent held, aclrtNotify notify, void* word)>
        wait;
};

class AbortedStuckTest : public support::DeviceTest,
                         public testing::WithParamInterface<StuckCase> {};

TEST_P(AbortedStuckTest, ComesFree) {
    const Stream held = MakeStream();
    const HostGate gate(held.Get());
    const Event event = MakeEvent();
    const conformance::Notify notify = conformance::MakeNotify();
    const support::DeviceBuffer word(std::vector<uint64_t>{0});
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), held.Get())));
    const Stream stream = MakeStream();
    const Recorder recorder;
    ASSERT_TRUE(IsOk(GetParam().wait(stream.Get(), event.Get(), notify.Get(), word.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        aclrtSynchronizeStreamWithTimeout(stream.Get(), support::kShort)));
    EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
    EXPECT_TRUE(recorder.WaitFor(1)) << "by itself";
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{2});
    gate.Open();
}

INSTANTIATE_TEST_SUITE_P(
    Table, AbortedStuckTest,
    testing::Values(StuckCase{"Event", [](aclrtStream stream, aclrtEvent held, aclrtNotify,
                                          void*) { return aclrtStreamWaitEvent(stream, held); }},
                    StuckCase{"EventWithTimeout",
                              [](aclrtStream stream, aclrtEvent held, aclrtNotify, void*) {
                                  return aclrtStreamWaitEventWithTimeout(stream, held, 1000);
                              }},
                    StuckCase{"Notify",
                              [](aclrtStream stream, aclrtEvent, aclrtNotify notify, void*) {
                                  return aclrtWaitAndResetNotify(notify, stream, 0);
                              }},
                    StuckCase{"Value",
                              [](aclrtStream stream, aclrtEvent, aclrtNotify, void* word) {
                                  return aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, stream);
                              }}),
    support::CaseName());

}  // namespace
