// SPDX-License-Identifier: Apache-2.0
// The captures under way, and the calls of captures below the aclmdlRI functions.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "acl/acl_rt.h"
#include "src/base/status.h"
#include "src/runtime/capture/capture_session.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// The captures under way, and the calls that they forbid to threads.
///
/// mutex_ guards the list. No lock is taken under it.
class CaptureRegistry {
 public:
    void Add(const std::shared_ptr<CaptureSession>& session);
    void Remove(const CaptureSession* session);

    /// Removes a capture of the context from the list and returns it. Null: there is none.
    std::shared_ptr<CaptureSession> TakeOneOf(Handle context);

    /// Returns `code` if a capture forbids the calling thread the calls that a capture cannot
    /// record. Only captures in the thread's current context do. One that this thread began forbids
    /// them unless the capture's mode is RELAXED. One of another thread forbids them if its mode
    /// and this thread's mode are GLOBAL. Nothing is forbidden to a thread of mode RELAXED.
    Status CheckUnsafe(int32_t code) {
        return count_.load(std::memory_order_acquire) == 0 ? Status() : CheckUnsafeSlowly(code);
    }

    /// 107027: a stream of the device is being captured.
    Status CheckNoneOn(const Device* device);

 private:
    Status CheckUnsafeSlowly(int32_t code);

    std::mutex mutex_;
    std::vector<std::shared_ptr<CaptureSession>> sessions_;
    std::atomic<size_t> count_{0};
};

CaptureRegistry& TheCaptureRegistry();

/// Sets the mode of the calling thread and returns the earlier one. A thread's first mode is
/// GLOBAL.
aclmdlRICaptureMode ExchangeThreadCaptureMode(aclmdlRICaptureMode mode);

// The calls connect streams, sessions, the registry and models. Codes as the aclmdlRI calls
// (acl/rt/model_ri.h).

/// Begins a capture into a new model.
Status BeginCapture(const StreamRef& stream, aclmdlRICaptureMode mode);
/// Begins a capture into a sub-graph of a conditional task.
Status BeginSubGraphCapture(const StreamRef& stream, const void* model, aclmdlRICaptureMode mode);
/// Ends the capture of the stream, and returns its model.
Status EndCapture(const StreamRef& stream, Handle* model);
/// Returns whether the stream is captured, and into which model.
Status ReadCapture(const StreamRef& stream, aclmdlRICaptureStatus* status, Handle* model);

/// Ends the capture without a result.
void AbandonCapture(CaptureSession* session);

/// Task groups and their updates.
Status BeginTaskGroup(const StreamRef& stream);
Status EndTaskGroup(const StreamRef& stream, Handle* group);
Status BeginTaskUpdate(const StreamRef& stream, const void* group);
Status EndTaskUpdate(const StreamRef& stream);

/// Variables and conditional tasks.
Status CreateCondition(Handle model, uint64_t launchValue, bool resets, Handle* handle);
Status FindConditionVariable(const void* handle, uint64_t** address);
Status AddConditionalTask(const aclmdlRICondTaskParams& params, const StreamRef& stream);

}  // namespace advstep
