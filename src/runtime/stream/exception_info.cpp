// SPDX-License-Identifier: Apache-2.0
// Keeps the callback for failed tasks and calls it.

#include "src/runtime/stream/exception_info.h"

#include <unistd.h>

#include <atomic>

#include "src/base/float_environment.h"
#include "src/base/fork.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/user_callback.h"

namespace advstep {
namespace {

std::atomic<aclrtExceptionInfoCallback> exceptionCallback{nullptr};

const ForkHook forgetCallback([](void*) noexcept { exceptionCallback = nullptr; });

}  // namespace

void SetExceptionCallback(aclrtExceptionInfoCallback callback) {
    exceptionCallback.store(callback, std::memory_order_release);
}

bool HasExceptionCallback() { return exceptionCallback.load(std::memory_order_relaxed) != nullptr; }

void TellException(const StreamIdentity& identity, uint64_t sequence, int32_t code) noexcept {
    const aclrtExceptionInfoCallback callback = exceptionCallback.load(std::memory_order_acquire);
    if (callback == nullptr) {
        return;
    }
    rtExceptionInfo info;
    info.taskId = static_cast<uint32_t>(sequence);
    info.streamId = static_cast<uint32_t>(identity.id);
    info.threadId = static_cast<uint32_t>(gettid());
    info.deviceId = static_cast<uint32_t>(identity.context.device->id());
    info.errorCode = static_cast<uint32_t>(code);
    const DefaultFloatEnvironment environment;  // as in host functions, since any thread gets here
    RunUserCallback("the exception callback", identity.context, [&] { callback(&info); });
}

}  // namespace advstep
