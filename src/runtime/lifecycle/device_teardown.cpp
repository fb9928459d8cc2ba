// SPDX-License-Identifier: Apache-2.0
// The end of a device, and of the runtime.
#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include "acl/acl_base.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/commands/callbacks.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/commands/notify.h"
#include "src/runtime/device/peer_access.h"
#include "src/runtime/kernels/kernel_binaries.h"
#include "src/runtime/lifecycle/context_end.h"
#include "src/runtime/lifecycle/device_registry.h"
#include "src/runtime/lifecycle/process_options.h"
#include "src/runtime/lifecycle/task_abort.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/contexts.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/exception_info.h"
#include "src/runtime/stream/stream_state.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/trace/trace.h"

namespace advstep {
namespace {

// Another thread that ends a device may wait for the callback.
Status RefuseInsideCallback() {
    return InsideCallback() ? Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                    "called from a callback of aclrtProcessReport; expected a call "
                                    "after it")
                            : Status();
}

// Takes back the device's memory and settings. Other contexts of the device live on after a reset,
// and may be running kernels: the cores keep their threads and memory until the runtime ends.
void Release(const Device& device) {
    TheVirtualMemory().ReleaseAll(&device);
    TheDeviceMemory().ReleaseAll(&device);
    device.counters().Reset();
    device.limits().Clear();
    ForgetPeerAccess(device);
}

// Destroys all contexts. No new ones are made meanwhile, because all devices are `ending`. 200000:
// there is no memory.
Status DestroyAllContexts() {
    for (;;) {
        std::vector<ContextRef> contexts;
        Contexts().ForEach([&](Context& context) {
            ContextRef found;
            const Handle handle = context.handle.load(std::memory_order_acquire);
            if (FindContext(ToPointer(handle), &found).ok()) {
                contexts.push_back(found);
            }
        });
        for (const ContextRef& context : contexts) {
            // The only other failure is that another thread is destroying the context.
            Status ended = DestroyContext(context, true);
            if (ended.code() == ACL_ERROR_BAD_ALLOC) {
                return ended;
            }
            ForgetCurrentContext(context.handle);
        }
        // A context that another thread is destroying has no handle any more, but its kernels may
        // run. If that thread gives up, the context is alive again.
        if (!WaitForContextEnds() && contexts.empty()) {
            return {};
        }
    }
}

void CloseEvents(Handle context) {
    NotifyTable::Instance().DestroyAllOf(context);
    Events().ForEach([&](Event& event) {
        if (event.CloseIfOf(context)) {
            Events().Release(&event);
        }
    });
    Event::ReclaimStates();  // of events that were destroyed while work was pending
}

}  // namespace

void DeviceRegistry::SetEnding(const Entries& entries) {
    for (Entry* entry : entries) {
        entry->ending = true;
    }
}

Status DeviceRegistry::SetEnded(const Entries& entries, Status refused) {
    for (Entry* entry : entries) {
        entry->ending = false;
        if (refused.ok()) {
            entry->uses = 0;
            entry->primary = ContextRef{};
        }
    }
    ending_ = false;
    ended_.notify_all();
    return refused;
}

DeviceRegistry::EndingGuard::~EndingGuard() {
    if (std::uncaught_exceptions() > exceptions_) {
        const std::lock_guard<std::mutex> lock(registry_->mutex_);
        for (Entry* entry : entries_) {
            entry->ending = false;
        }
        registry_->ending_ = false;
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

// The calling thread processes no callbacks while it waits. So it waits for the work itself first,
// which fails if the work waits for a callback of this thread. Work may come after that, and so it
// looks again.
Status DeviceRegistry::WaitUntilEnded(std::unique_lock<std::mutex>& lock, const Device& device) {
    const Device* const ends = ending_ ? nullptr : &device;
    lock.unlock();
    Status drained = DrainForTeardown(ends);
    lock.lock();
    if (drained.ok()) {
        const NoCancellation noCancellation;
        (void)ended_.wait_until(lock, WaitClock::now() + std::chrono::milliseconds(20));
    }
    return drained;
}

Status DeviceRegistry::BeginEnd(bool all, bool* ends, uint64_t* left, Entries* entries) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        if (references_ == 0) {
            return Error(ACL_ERROR_REPEAT_FINALIZE, "the runtime is not initialised");
        }
        *ends = all || references_ == 1;
        if (!*ends) {
            *left = --references_;
            return {};
        }
        const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                        [](const Entry* each) { return each->ending; });
        if (entry != entries_.end()) {
            ADVSTEP_RETURN_IF_ERROR(WaitUntilEnded(lock, (*entry)->device));
        } else if (ending_) {
            const NoCancellation noCancellation;
            ended_.wait(lock);
        } else {
            *entries = entries_;
            SetEnding(*entries);
            ending_ = true;
            return {};
        }
    }
}

Status DeviceRegistry::End(bool all, uint64_t* left) {
    ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
    ADVSTEP_RETURN_IF_ERROR(RefuseInsideCallback());
    DestroyAnnouncement announcement;
    if (WouldEnd(all)) {
        announcement.AddAllOf(nullptr);
    }
    std::vector<SharedObject> binaries;  // closed after the locks are released
    Entries entries;
    bool ends = false;
    ADVSTEP_RETURN_IF_ERROR(BeginEnd(all, &ends, left, &entries));
    if (!ends) {
        return {};
    }
    const EndingGuard guard(this, entries);
    if (Status drained = DrainForTeardown(nullptr); !drained.ok()) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return SetEnded(entries, std::move(drained));
    }
    if (Status ended = DestroyAllContexts(); !ended.ok()) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return SetEnded(entries, std::move(ended));
    }
    // A stream that another thread is destroying may still run what was queued before.
    ForEachStream([](Stream& stream) { (void)WaitFor(stream.Now(), ToTheEnd()); });
    CloseEvents(0);
    for (const Entry* entry : entries) {
        entry->device.cores().Stop();  // no stream is left, so no launch is
        Release(entry->device);
    }
    TheVirtualMemory().ReleaseAll(nullptr);
    TheDeviceMemory().ReleaseAll(nullptr);
    Workers().Stop();
    binaries = TheKernelBinaries().TakeAll();
    EventWaitSeconds().store(0);
    SetExceptionCallback(nullptr);
    ForgetStreamStateCallbacks();
    ForgetTaskAbortCallbacks();
    ResetProcessOptions();
    Trace::Instance().Close();
    *left = 0;
    const std::lock_guard<std::mutex> lock(mutex_);
    references_ = 0;
    defaultDevice_.reset();
    started_.store(false, std::memory_order_release);
    return SetEnded(entries, {});
}

const Context* DeviceRegistry::WouldReset(int32_t deviceId, bool force) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry* entry = nullptr;
    const bool resets =
        FindLocked(deviceId, &entry).ok() && (entry->uses == 1 || (force && entry->uses > 1));
    return resets ? entry->primary.context : nullptr;
}

Status DeviceRegistry::BeginReset(int32_t deviceId, bool force, Entries* entries) {
    entries->reserve(1);
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        Entry* entry = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindLocked(deviceId, &entry));
        if (entry->uses == 0) {
            return Error(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
                         "device {} is not set; expected aclrtSetDevice before", deviceId);
        }
        if (!force && entry->uses > 1) {
            --entry->uses;
            return {};
        }
        if (!entry->ending) {
            entries->push_back(entry);
            SetEnding(*entries);
            return {};
        }
        ADVSTEP_RETURN_IF_ERROR(WaitUntilEnded(lock, entry->device));
    }
}

Status DeviceRegistry::Reset(int32_t deviceId, bool force) {
    ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
    ADVSTEP_RETURN_IF_ERROR(RefuseInsideCallback());
    DestroyAnnouncement announcement;
    if (const Context* const ending = WouldReset(deviceId, force); ending != nullptr) {
        announcement.AddAllOf(ending);
    }
    Entries entries;
    ADVSTEP_RETURN_IF_ERROR(BeginReset(deviceId, force, &entries));
    if (entries.empty()) {
        return {};
    }
    Entry* const entry = entries.front();
    const ContextRef primary = entry->primary;  // it stays while the device is ending
    const EndingGuard guard(this, entries);
    if (Status drained = DrainForTeardown(&entry->device); !drained.ok()) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return SetEnded(entries, std::move(drained));
    }
    // It fails for no other reason, because only this thread ends the context. Nothing after it
    // needs memory.
    if (Status ended = DestroyContext(primary, true); ended.code() == ACL_ERROR_BAD_ALLOC) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return SetEnded(entries, std::move(ended));
    }
    ForgetCurrentContext(primary.handle);
    CloseEvents(primary.handle);
    Release(entry->device);
    const std::lock_guard<std::mutex> lock(mutex_);
    return SetEnded(entries, {});
}

}  // namespace advstep
