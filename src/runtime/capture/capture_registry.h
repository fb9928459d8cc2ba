#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "src/runtime/capture/capture_session.h"

namespace advstep {

/// The captures under way, and what they forbid to whom.
///
/// mutex_ guards the list; sessions' locks are taken under it, streams' are not.
class CaptureRegistry {
 public:
    static CaptureRegistry& Instance();

    void Add(const std::shared_ptr<CaptureSession>& session);
    void Remove(const CaptureSession* session);

    /// One of the context, or null. It is not in the list any more.
    std::shared_ptr<CaptureSession> TakeOneOf(Handle context);

    /// `code` if a capture forbids the calling thread what it cannot record: its own unless that is
    /// RELAXED, or any thread's of mode GLOBAL; as far as the thread's own mode lets it.
    Status CheckUnsafe(int32_t code) {
        return count_.load(std::memory_order_acquire) == 0 ? Status() : CheckUnsafeSlowly(code);
    }

    /// 107027 if a stream of the device is being captured.
    Status CheckNoneOn(const Device* device);

 private:
    Status CheckUnsafeSlowly(int32_t code);

    std::mutex mutex_;
    std::vector<std::shared_ptr<CaptureSession>> sessions_;
    std::atomic<size_t> count_{0};
};

/// Puts another mode in place for the calling thread and returns the one before; GLOBAL at first.
aclmdlRICaptureMode ExchangeThreadCaptureMode(aclmdlRICaptureMode mode);

}  // namespace advstep
