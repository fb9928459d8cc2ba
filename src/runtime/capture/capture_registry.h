// SPDX-License-Identifier: Apache-2.0
// The active captures, and the calls that they forbid to threads.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "src/runtime/capture/capture_session.h"

namespace advstep {

/// The captures under way, and the calls that they forbid to threads.
///
/// mutex_ guards the list. No lock is taken under it.
class CaptureRegistry {
 public:
    static CaptureRegistry& Instance();

    void Add(const std::shared_ptr<CaptureSession>& session);
    void Remove(const CaptureSession* session);

    /// Removes a capture of the context from the list and returns it. Null: there is none.
    std::shared_ptr<CaptureSession> TakeOneOf(Handle context);

    /// Returns `code` if a capture forbids the calling thread the calls that a capture cannot
    /// record. A capture that this thread began forbids them unless the capture's mode is RELAXED.
    /// A capture of another thread forbids them if its mode and this thread's mode are GLOBAL.
    /// Nothing is forbidden to a thread of mode RELAXED.
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

/// Sets the mode of the calling thread and returns the earlier one. A thread's first mode is
/// GLOBAL.
aclmdlRICaptureMode ExchangeThreadCaptureMode(aclmdlRICaptureMode mode);

}  // namespace advstep
