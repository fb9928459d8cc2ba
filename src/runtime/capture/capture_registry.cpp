// SPDX-License-Identifier: Apache-2.0
// Keeps the active captures and the capture mode of each thread.

#include "src/runtime/capture/capture_registry.h"

#include <algorithm>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/fork.h"
#include "src/base/never_destroyed.h"

namespace advstep {
namespace {

thread_local aclmdlRICaptureMode threadMode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

const ForkHook forgetMode([](void*) noexcept { threadMode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL; });

bool Forbids(const CaptureSession& session) {
    if (threadMode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED || session.Over()) {
        return false;
    }
    if (session.thread() == std::this_thread::get_id()) {
        return session.mode() != ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    }
    return threadMode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
           session.mode() == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
}

}  // namespace

aclmdlRICaptureMode ExchangeThreadCaptureMode(aclmdlRICaptureMode mode) {
    return std::exchange(threadMode, mode);
}

CaptureRegistry& CaptureRegistry::Instance() {
    static NeverDestroyed<CaptureRegistry> registry;
    return *registry;
}

void CaptureRegistry::Add(const std::shared_ptr<CaptureSession>& session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sessions_.push_back(session);
    count_.store(sessions_.size(), std::memory_order_release);
}

void CaptureRegistry::Remove(const CaptureSession* session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sessions_.erase(std::remove_if(sessions_.begin(), sessions_.end(),
                                   [&](const auto& entry) { return entry.get() == session; }),
                    sessions_.end());
    count_.store(sessions_.size(), std::memory_order_release);
}

std::shared_ptr<CaptureSession> CaptureRegistry::TakeOneOf(Handle context) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
        return entry->context().handle == context;
    });
    if (found == sessions_.end()) {
        return nullptr;
    }
    std::shared_ptr<CaptureSession> taken = std::move(*found);
    sessions_.erase(found);
    count_.store(sessions_.size(), std::memory_order_release);
    return taken;
}

Status CaptureRegistry::CheckUnsafeSlowly(int32_t code) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool forbidden = std::any_of(sessions_.begin(), sessions_.end(),
                                       [](const auto& entry) { return Forbids(*entry); });
    return forbidden
               ? Error(code,
                       "copies at once what the capture under way cannot record; expected an "
                       "asynchronous call with device or pinned memory, capture mode RELAXED, or "
                       "aclmdlRICaptureThreadExchangeMode")
               : Status();
}

Status CaptureRegistry::CheckNoneOn(const Device* device) {
    if (count_.load(std::memory_order_acquire) == 0) {
        return {};
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool captured = std::any_of(
        sessions_.begin(), sessions_.end(), [&](const std::shared_ptr<CaptureSession>& entry) {
            return !entry->Over() && entry->context().device == device;
        });
    return captured ? Error(ACL_ERROR_RT_STREAM_CAPTURED,
                            "a stream of the device is being captured; expected "
                            "aclmdlRICaptureEnd before")
                    : Status();
}

}  // namespace advstep
