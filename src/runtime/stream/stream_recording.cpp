// SPDX-License-Identifier: Apache-2.0
// A stream whose work is passed to a recorder.
#include "acl/acl_base.h"
#include "src/runtime/stream/stream.h"

namespace advstep {

bool Stream::RecordingLocked() {
    if (recorder_ != nullptr && recorder_->Over()) {
        recorder_ = nullptr;
    }
    return recorder_ != nullptr;
}

Status Stream::CapturedError() const {
    if (recorder_->Over() || !recorder_->Captures()) {
        return {};
    }
    ADVSTEP_RETURN_IF_ERROR(recorder_->CheckActive());
    return Error(ACL_ERROR_RT_STREAM_CAPTURED,
                 "stream {} is being captured; expected aclmdlRICaptureEnd before",
                 ToPointer(identity_.handle));
}

Status Stream::CheckNotRecorded() const {
    ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
    if (recorder_ == nullptr || recorder_->Over()) {
        return {};
    }
    return Error(ACL_ERROR_STREAM_TASK_GROUP_INTR,
                 "stream {} updates a task group, which takes operator launches only; expected "
                 "aclmdlRICaptureTaskUpdateEnd before",
                 ToPointer(identity_.handle));
}

Status Stream::CheckFree(Handle handle, Handle caller) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    return CheckNotCaptured();
}

Status Stream::StartRecording(Handle handle, Handle caller,
                              const std::shared_ptr<Recorder>& recorder) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    if (recorder->Captures() && handle == identity_.context.defaultStreamHandle) {
        return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "stream {} is the context's default stream; expected one of "
                     "aclrtCreateStream",
                     ToPointer(handle));
    }
    ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
    if (RecordingLocked()) {
        return Error(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                     "stream {} is updating a task group; expected aclmdlRICaptureTaskUpdateEnd "
                     "before",
                     ToPointer(handle));
    }
    recorder_ = recorder;
    recorderBranch_ = 0;
    return {};
}

Status Stream::FindRecorder(Handle handle, Handle caller, std::shared_ptr<Recorder>* recorder,
                            int32_t* branch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    (void)RecordingLocked();
    *recorder = recorder_;
    *branch = recorderBranch_;
    return {};
}

void Stream::StopRecording(const Recorder* recorder) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (recorder_.get() == recorder) {
        recorder_ = nullptr;
    }
}

Status Stream::WaitInCapture(Handle handle, Handle caller, const CapturePlace& place,
                             int64_t timeoutNanoseconds) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    if (RecordingLocked()) {
        return recorder_->RecordWait(recorderBranch_, place, timeoutNanoseconds);
    }
    if (handle == identity_.context.defaultStreamHandle) {
        return Error(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                     "stream {} is the context's default stream, which no capture may pull in; "
                     "expected one of aclrtCreateStream",
                     ToPointer(handle));
    }
    const std::shared_ptr<Recorder> capture = place.capture.lock();
    int32_t branch = 0;
    if (capture == nullptr) {
        return {};  // the capture is over, so the event counts as never recorded
    }
    ADVSTEP_RETURN_IF_ERROR(
        capture->Join({identity_.handle, identity_.context.handle, failures_.refusal()}, place,
                      timeoutNanoseconds, &branch));
    if (branch >= 0) {
        recorder_ = capture;
        recorderBranch_ = branch;
    }
    return {};
}

}  // namespace advstep
