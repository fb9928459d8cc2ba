// SPDX-License-Identifier: Apache-2.0
// Captures, models and notifies for tests.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_CAPTURES_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_CAPTURES_H_

#include <gtest/gtest.h>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"

namespace conformance {

using Model = support::Owned<&aclmdlRIDestroy>;
using Notify = support::Owned<&aclrtDestroyNotify>;

constexpr aclmdlRICaptureMode kGlobal = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
constexpr aclmdlRICaptureMode kThreadLocal = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
constexpr aclmdlRICaptureMode kRelaxed = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;

constexpr aclmdlRICaptureStatus kNone = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
constexpr aclmdlRICaptureStatus kActive = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
constexpr aclmdlRICaptureStatus kInvalidated = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;

inline Notify MakeNotify() {
    aclrtNotify notify = nullptr;
    EXPECT_TRUE(support::IsOk(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT)));
    return Notify(notify);
}

// The kind of event that captures take.
inline support::Event MakeCaptureEvent() {
    return support::MakeEventExWithFlag(ACL_EVENT_CAPTURE_STREAM_PROGRESS);
}

inline void Begin(aclrtStream stream, aclmdlRICaptureMode mode = kGlobal) {
    EXPECT_TRUE(support::IsOk(aclmdlRICaptureBegin(stream, mode)));
}

inline Model End(aclrtStream stream) {
    aclmdlRI model = nullptr;
    EXPECT_TRUE(support::IsOk(aclmdlRICaptureEnd(stream, &model)));
    EXPECT_NE(model, nullptr);
    return Model(model);
}

// What work puts into the stream.
template <class Work>
Model Capture(aclrtStream stream, Work work) {
    Begin(stream);
    work();
    return End(stream);
}

inline aclmdlRICaptureStatus StatusOf(aclrtStream stream) {
    aclmdlRICaptureStatus status = kInvalidated;
    EXPECT_TRUE(support::IsOk(aclmdlRICaptureGetInfo(stream, &status, nullptr)));
    return status;
}

// Makes later work of `to` wait for what `from` has so far.
inline void Order(const support::Stream& from, const support::Stream& to) {
    const support::Event event = MakeCaptureEvent();
    EXPECT_TRUE(support::IsOk(aclrtRecordEvent(event.Get(), from.Get())));
    EXPECT_TRUE(support::IsOk(aclrtStreamWaitEvent(to.Get(), event.Get())));
}

// One replay, from its enqueue to its end.
inline int Replay(const Model& model, const support::Stream& stream) {
    const int status = aclmdlRIExecuteAsync(model.Get(), stream.Get());
    return status == ACL_SUCCESS ? aclrtSynchronizeStream(stream.Get()) : status;
}

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_CAPTURES_H_
