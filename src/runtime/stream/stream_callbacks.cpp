// SPDX-License-Identifier: Apache-2.0
// Holds the callbacks about streams and calls them.

#include "src/runtime/stream/stream_callbacks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <string>

#include "acl/acl_base.h"
#include "src/base/boundary.h"
#include "src/base/float_environment.h"
#include "src/base/fork.h"
#include "src/base/log.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/streams.h"

namespace advstep {
namespace {

// Calls user code in the middle of an acl call or of a task. The stream's context is current
// during the call. The thread's context, message and last error are the same after it as before.
// An exception of the code is logged; neither the acl call nor the task is undone.
template <typename Call>
void RunUserCallback(const char* name, const ContextRef& context, Call&& call) noexcept {
    const NoCancellation noCancellation;
    const ErrorStateScope errors;
    const CurrentContextScope scope(context);
    const auto log = [name](const char* what) {
        Log(LogLevel::kError, "{} threw an exception: {}", name, what);
    };
    try {
        call();
    } catch (const std::exception& error) {
        log(error.what());
    } catch (...) {
        log(TextOfCaught("not a std::exception"));
    }
}

struct Registration {
    std::string name;
    aclrtStreamStateCallback callback;
    void* args;
};

// The callbacks in the order in which their names were registered. Never destroyed, because streams
// may be destroyed after main().
struct Registrations {
    std::mutex mutex;  // guards `all`; no lock is taken after it
    std::vector<Registration> all;
    std::atomic<bool> any{false};  // so that nothing is locked if there are no callbacks
};

Registrations& TheRegistrations() {
    static NeverDestroyed<Registrations> registrations;
    return *registrations;
}

bool AnybodyListens() { return TheRegistrations().any.load(std::memory_order_acquire); }

void Tell(const ContextRef& context, Handle handle, aclrtStreamState state) {
    Registrations& registrations = TheRegistrations();
    std::vector<Registration> all;
    {
        const std::lock_guard<std::mutex> lock(registrations.mutex);
        all = registrations.all;
    }
    for (const Registration& each : all) {
        RunUserCallback(each.name.c_str(), context,
                        [&] { each.callback(ToPointer(handle), state, each.args); });
    }
}

// The callbacks for failed tasks: first that of SetExceptionCallback, then the added ones, each in
// a place that it keeps. Tasks read the places without a lock and without memory. The mutex is
// taken by those who write them; no lock is taken after it.
constexpr size_t kMostAddedCallbacks = 16;
std::array<std::atomic<aclrtExceptionInfoCallback>, 1 + kMostAddedCallbacks> exceptionCallbacks{};
std::atomic<bool> anyExceptionCallback{false};

std::mutex& ExceptionCallbacksMutex() {
    static NeverDestroyed<std::mutex> mutex;
    return *mutex;
}

void PutExceptionCallbackLocked(size_t place, aclrtExceptionInfoCallback callback) noexcept {
    exceptionCallbacks[place].store(callback, std::memory_order_release);
    bool any = false;
    for (const auto& each : exceptionCallbacks) {
        any = any || each.load(std::memory_order_relaxed) != nullptr;
    }
    anyExceptionCallback.store(any, std::memory_order_relaxed);
}

// Returns the place of an added callback (null: a free one), or 0.
size_t FindExceptionCallbackLocked(aclrtExceptionInfoCallback callback) {
    for (size_t place = 1; place < exceptionCallbacks.size(); ++place) {
        if (exceptionCallbacks[place].load(std::memory_order_relaxed) == callback) {
            return place;
        }
    }
    return 0;
}

// The child of a fork has one thread, and a new mutex.
const ForkHook forgetCallbacks([](void*) noexcept {
    for (size_t place = 0; place < exceptionCallbacks.size(); ++place) {
        PutExceptionCallbackLocked(place, nullptr);
    }
});

}  // namespace

Status SetStreamStateCallback(const char* name, aclrtStreamStateCallback callback, void* args) {
    Registrations& registrations = TheRegistrations();
    const std::lock_guard<std::mutex> lock(registrations.mutex);
    std::vector<Registration>& all = registrations.all;
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const Registration& each) { return each.name == name; });
    if (callback == nullptr) {
        if (known == all.end()) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "callback is null and regName \"{}\" has none; expected a callback, or "
                         "the name of a registered one to take away",
                         name);
        }
        all.erase(known);
    } else if (known != all.end()) {
        known->callback = callback;
        known->args = args;
    } else {
        all.push_back({name, callback, args});
    }
    registrations.any.store(!all.empty(), std::memory_order_release);
    return {};
}

void ForgetStreamStateCallbacks() {
    Registrations& registrations = TheRegistrations();
    const std::lock_guard<std::mutex> lock(registrations.mutex);
    registrations.all.clear();
    registrations.any.store(false, std::memory_order_release);
}

void TellStreamCreated(const ContextRef& context, Handle handle) {
    if (AnybodyListens()) {
        Tell(context, handle, ACL_RT_STREAM_STATE_CREATE_POST);
    }
}

DestroyAnnouncement::~DestroyAnnouncement() {
    for (const StreamRef& stream : announced_) {
        stream.WithdrawDestroy();
    }
}

Status DestroyAnnouncement::Add(const StreamRef& stream) {
    if (!AnybodyListens()) {
        return {};
    }
    StreamIdentity identity;
    announced_.reserve(announced_.size() + 1);
    bool first = false;
    ADVSTEP_RETURN_IF_ERROR(stream.AnnounceDestroy(&first, &identity));
    if (first) {
        announced_.push_back(stream);
        Tell(identity.context, identity.handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
    }
    return {};
}

void DestroyAnnouncement::AddAllOf(const Context* context) {
    if (!AnybodyListens()) {
        return;
    }
    std::vector<StreamRef> streams;
    TheStreams().ForEach([&](Stream& stream) {
        StreamIdentity identity;
        if (stream.BelongsTo(nullptr, context, &identity) && !identity.hidden &&
            identity.handle != identity.context.defaultStreamHandle) {
            streams.push_back({&stream, identity.handle, identity.context.handle});
        }
    });
    for (const StreamRef& stream : streams) {
        (void)Add(stream);  // fails for a stream that another thread is destroying
    }
}

void SetExceptionCallback(aclrtExceptionInfoCallback callback) {
    const std::lock_guard<std::mutex> lock(ExceptionCallbacksMutex());
    PutExceptionCallbackLocked(0, callback);
}

Status AddExceptionCallback(aclrtExceptionInfoCallback callback) {
    const std::lock_guard<std::mutex> lock(ExceptionCallbacksMutex());
    if (FindExceptionCallbackLocked(callback) != 0) {
        return {};
    }
    const size_t free = FindExceptionCallbackLocked(nullptr);
    if (free == 0) {
        return Error(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                     "{} callbacks are registered; expected fewer before another one",
                     kMostAddedCallbacks);
    }
    PutExceptionCallbackLocked(free, callback);
    return {};
}

Status RemoveExceptionCallback(aclrtExceptionInfoCallback callback) {
    const std::lock_guard<std::mutex> lock(ExceptionCallbacksMutex());
    const size_t place = FindExceptionCallbackLocked(callback);
    if (place == 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "callback is {}, which is not registered; expected one of "
                     "aclrtExceptionInfoCallbackRegister",
                     reinterpret_cast<const void*>(callback));
    }
    PutExceptionCallbackLocked(place, nullptr);
    return {};
}

void ForgetExceptionCallbacks() {
    const std::lock_guard<std::mutex> lock(ExceptionCallbacksMutex());
    for (size_t place = 0; place < exceptionCallbacks.size(); ++place) {
        PutExceptionCallbackLocked(place, nullptr);
    }
}

bool HasExceptionCallback() { return anyExceptionCallback.load(std::memory_order_relaxed); }

void TellException(const StreamIdentity& identity, uint64_t sequence, int32_t code) noexcept {
    rtExceptionInfo info;
    info.taskId = static_cast<uint32_t>(sequence);
    info.streamId = static_cast<uint32_t>(identity.id);
    info.threadId = static_cast<uint32_t>(gettid());
    info.deviceId = static_cast<uint32_t>(identity.context.device->id());
    info.errorCode = static_cast<uint32_t>(code);
    const DefaultFloatEnvironment environment;  // as in host functions, since any thread gets here
    for (const auto& place : exceptionCallbacks) {
        if (const auto callback = place.load(std::memory_order_acquire); callback != nullptr) {
            RunUserCallback("the exception callback", identity.context, [&] { callback(&info); });
        }
    }
}

}  // namespace advstep
