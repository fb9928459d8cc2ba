// How the registry ends a device, or the runtime.
#include <exception>
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/current.h"
#include "src/runtime/device_registry.h"
#include "src/runtime/exception_info.h"
#include "src/runtime/peer_access.h"
#include "src/runtime/report.h"
#include "src/runtime/stream_state.h"
#include "src/runtime/trace.h"

namespace advstep {
namespace {

// Another thread that ends a device may wait for the callback.
Status RefuseInsideCallback() {
    return InsideCallback() ? Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                    "called from a callback of aclrtProcessReport; expected a call "
                                    "after it")
                            : Status();
}

// What belongs to the device and to none of its living contexts. Nothing of it is queued any more.
void Release(Device* device) {
    TheResources().virtualMemory.ReleaseAll(device);
    TheResources().memory.ReleaseAll(device);
    device->cores().Stop();
    device->counters().Reset();
    device->limits().Clear();
    ForgetPeerAccess(*device);
}

void CloseEvents(Handle context) {
    Resources& resources = TheResources();
    resources.notifies.DestroyAllOf(context);
    resources.events.ForEach([&](Event& event) {
        if (event.CloseIfOf(context)) {
            resources.events.Release(&event);
        }
    });
}

}  // namespace

void DeviceRegistry::SetEnding(const std::vector<Device*>& devices) {
    for (Device* device : devices) {
        device->ending = true;
    }
}

Status DeviceRegistry::SetEnded(const std::vector<Device*>& devices, Status refused) {
    for (Device* device : devices) {
        device->ending = false;
        if (refused.ok()) {
            device->uses = 0;
            device->primary = ContextRef{};
        }
    }
    ended_.notify_all();
    return refused;
}

DeviceRegistry::EndingGuard::~EndingGuard() {
    if (std::uncaught_exceptions() > exceptions_) {
        const std::lock_guard<std::mutex> lock(registry_->mutex_);
        for (Device* device : devices_) {
            device->ending = false;
        }
        registry_->ended_.notify_all();
    }
}

Status DeviceRegistry::Finalize() {
    uint64_t left = 0;
    return End(true, &left);
}

Status DeviceRegistry::FinalizeReference(uint64_t* left) { return End(false, left); }

bool DeviceRegistry::WouldEnd(bool all) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return references_ == 1 || (all && references_ > 0);
}

Status DeviceRegistry::End(bool all, uint64_t* left) {
    ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
    ADVSTEP_RETURN_IF_ERROR(RefuseInsideCallback());
    DestroyAnnouncement announcement;
    if (WouldEnd(all)) {
        announcement.AddAllOf(nullptr);
    }
    const std::lock_guard<std::mutex> teardown(teardown_);
    std::vector<Device*> devices;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (references_ == 0) {
            return Error(ACL_ERROR_REPEAT_FINALIZE, "the runtime is not initialised");
        }
        if (!all && references_ > 1) {
            *left = --references_;
            return {};
        }
        devices = devices_;
        SetEnding(devices);
    }
    const EndingGuard guard(this, devices);
    if (Status drained = DrainForTeardown(nullptr); !drained.ok()) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return SetEnded(devices, std::move(drained));
    }
    Resources& resources = TheResources();
    std::vector<ContextRef> contexts;
    resources.contexts.ForEach([&](Context& context) {
        ContextRef found;
        if (FindContext(ToPointer(context.handle.load(std::memory_order_acquire)), &found).ok()) {
            contexts.push_back(found);
        }
    });
    for (const ContextRef& context : contexts) {
        // Fails otherwise only if another thread is destroying it.
        if (Status ended = DestroyContext(context, true); ended.code() == ACL_ERROR_BAD_ALLOC) {
            const std::lock_guard<std::mutex> lock(mutex_);
            return SetEnded(devices, std::move(ended));
        }
        ForgetCurrentContext(context.handle);
    }
    CloseEvents(0);
    for (Device* device : devices) {
        Release(device);
    }
    resources.virtualMemory.ReleaseAll(nullptr);
    resources.memory.ReleaseAll(nullptr);
    resources.workers.Stop();
    resources.opWaitTimeout.store(0);
    SetExceptionCallback(nullptr);
    ForgetStreamStateCallbacks();
    Trace::Instance().Close();
    *left = 0;
    const std::lock_guard<std::mutex> lock(mutex_);
    references_ = 0;
    started_.store(false, std::memory_order_release);
    return SetEnded(devices, {});
}

const Context* DeviceRegistry::WouldReset(int32_t deviceId, bool force) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Device* device = nullptr;
    const bool resets =
        FindLocked(deviceId, &device).ok() && (device->uses == 1 || (force && device->uses > 1));
    return resets ? device->primary.context : nullptr;
}

Status DeviceRegistry::Reset(int32_t deviceId, bool force) {
    ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
    ADVSTEP_RETURN_IF_ERROR(RefuseInsideCallback());
    DestroyAnnouncement announcement;
    if (const Context* const ending = WouldReset(deviceId, force); ending != nullptr) {
        announcement.AddAllOf(ending);
    }
    const std::lock_guard<std::mutex> teardown(teardown_);
    Device* device = nullptr;
    std::vector<Device*> devices(1);
    ContextRef primary;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(FindLocked(deviceId, &device));
        if (device->uses == 0) {
            return Error(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
                         "device {} is not set; expected aclrtSetDevice before", deviceId);
        }
        if (!force && device->uses > 1) {
            --device->uses;
            return {};
        }
        primary = device->primary;
        devices.front() = device;
        SetEnding(devices);
    }
    const EndingGuard guard(this, devices);
    if (Status drained = DrainForTeardown(device); !drained.ok()) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return SetEnded(devices, std::move(drained));
    }
    // Fails for nothing else while it is this thread's to end; and nothing after it needs memory.
    if (Status ended = DestroyContext(primary, true); ended.code() == ACL_ERROR_BAD_ALLOC) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return SetEnded(devices, std::move(ended));
    }
    ForgetCurrentContext(primary.handle);
    CloseEvents(primary.handle);
    Release(device);
    const std::lock_guard<std::mutex> lock(mutex_);
    return SetEnded(devices, {});
}

}  // namespace advstep
