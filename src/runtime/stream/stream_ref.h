// SPDX-License-Identifier: Apache-2.0
// A live stream as calls refer to it: the stream, its handle and the caller's context.

#pragma once

#include <memory>
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/stream/stream.h"

namespace advstep {

/// A stream as a call has found it. Each method calls Stream's method of the same name, which
/// compares both handles again, because the stream may have ended since.
struct StreamRef {
    Stream* stream = nullptr;
    Handle handle = 0;
    Handle caller = 0;  // the current context of the caller

    template <typename Fill>
    Status Enqueue(const Work& work, Fill&& fill, Ticket* ticket = nullptr) const {
        return stream->Enqueue(handle, caller, work, std::forward<Fill>(fill), ticket);
    }
    template <typename Prepare, typename Fill>
    Status EnqueueBatch(const Stream::Batch& batch, Prepare&& prepare, Fill&& fill,
                        Ticket* last) const {
        return stream->EnqueueBatch(handle, caller, batch, std::forward<Prepare>(prepare),
                                    std::forward<Fill>(fill), last);
    }
    template <typename Use>
    Status Inspect(Use&& use) const {
        return stream->Inspect(handle, caller, std::forward<Use>(use));
    }
    Status Check() const { return stream->Check(handle, caller); }
    Status CheckFree() const { return stream->CheckFree(handle, caller); }
    Status Synchronize(const WaitLimit& limit = kNoLimit) const {
        return stream->Synchronize(handle, caller, limit);
    }
    Status Query(bool* complete) const { return stream->Query(handle, caller, complete); }
    Status Drop(bool* closing = nullptr) const { return stream->Drop(handle, caller, closing); }
    Status Abort(int32_t code = ACL_ERROR_RT_STREAM_ABORT) const {
        return stream->Abort(handle, caller, code);
    }
    Status StopFront() const { return stream->StopFront(handle, caller); }
    Status Close(bool drop) const { return stream->Close(handle, caller, drop); }
    Status AnnounceDestroy(bool* first, StreamIdentity* identity) const {
        return stream->AnnounceDestroy(handle, caller, first, identity);
    }
    void WithdrawDestroy() const { stream->WithdrawDestroy(handle); }
    Status SetStopOnFailure(bool stop) const {
        return stream->SetStopOnFailure(handle, caller, stop);
    }
    Status StartRecording(const std::shared_ptr<Recorder>& recorder) const {
        return stream->StartRecording(handle, caller, recorder);
    }
    Status FindRecorder(std::shared_ptr<Recorder>* recorder, int32_t* branch) const {
        return stream->FindRecorder(handle, caller, recorder, branch);
    }
    Status WaitInCapture(const CapturePlace& place, int64_t timeoutNanoseconds) const {
        return stream->WaitInCapture(handle, caller, place, timeoutNanoseconds);
    }
};

}  // namespace advstep
