// SPDX-License-Identifier: Apache-2.0
// Starts the runtime, hands out its devices, and ends both.

#include "src/runtime/lifecycle/device_registry.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <utility>
#include <vector>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/base/sanitizer.h"
#include "src/base/source_lines.h"
#include "src/base/use_after_fork.h"
#include "src/runtime/commands/callbacks.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/commands/notify.h"
#include "src/runtime/device/peer_access.h"
#include "src/runtime/kernels/kernel_binaries.h"
#include "src/runtime/lifecycle/context_end.h"
#include "src/runtime/lifecycle/process_options.h"
#include "src/runtime/lifecycle/task_abort.h"
#include "src/runtime/memory/guarded_memory.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/sanitizer/device_sanitizer.h"
#include "src/runtime/stream/allocators.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/hang_watch.h"
#include "src/runtime/stream/stream_callbacks.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/trace/trace.h"

namespace advstep {
namespace {

bool SameMachine(const Settings& a, const Settings& b) {
    return a.conformance == b.conformance && a.soc.name == b.soc.name && a.threads == b.threads &&
           a.isa == b.isa && a.memoryBytes == b.memoryBytes && a.sharedBytes == b.sharedBytes &&
           a.queueTasks == b.queueTasks && a.coreOrder == b.coreOrder && a.limits == b.limits &&
           a.onDivergence == b.onDivergence && a.visibleDevices == b.visibleDevices;
}

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
        TheContexts().ForEach([&](Context& context) {
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
    TheNotifyTable().DestroyAllOf(context);
    TheEvents().ForEach([&](Event& event) {
        if (event.CloseIfOf(context)) {
            TheEvents().Release(&event);
        }
    });
    Event::ReclaimStates();  // of events that were destroyed while work was pending
}

// Tells, at the end of a process that has not finalized the runtime, what nobody has asked for.
void TellUnused(int, void*) {
    if (Sanitizing(SanitizerCheck::kSync)) {
        TheEvents().ForEach([](Event& event) { event.ReportUnused(); });
        TheStreams().ForEach([](Stream& stream) { stream.ReportUnasked(); });
    }
}

// The hook must be registered after that of StartSanitizer, which lists the findings: hooks run in
// the reverse order.
void TellUnusedAtExit() {
    static std::atomic<bool> hooked{false};
    if (Sanitizing(SanitizerCheck::kSync) && !hooked.exchange(true)) {
        (void)on_exit(&TellUnused, nullptr);
    }
}

}  // namespace

DeviceRegistry& TheDeviceRegistry() {
    static NeverDestroyed<DeviceRegistry> registry;
    return *registry;
}

// The start of the runtime.

Status DeviceRegistry::Init(const char* configPath) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (references_ > 0) {
        ++references_;
        return Status(ACL_ERROR_REPEAT_INITIALIZE);
    }
    if (InUseLocked()) {
        // Devices are in use under settings that were read before. Those stay, but a bad file is
        // still an error.
        Settings settings;
        ADVSTEP_RETURN_IF_ERROR(LoadSettings(configPath, &settings));
        if (!SameMachine(settings, settings_) || settings.devices != settings_.devices ||
            settings.guard != settings_.guard || settings.trace != settings_.trace) {
            Log(LogLevel::kWarn, "aclInit after first device use: the settings read then stay");
        }
        if (settings.defaultDevice && *settings.defaultDevice >= settings_.devices) {
            return Error(ACL_ERROR_INTERNAL_ERROR,
                         "default_device is {}; expected 0 <= default_device < device count = {}",
                         *settings.defaultDevice, settings_.devices);
        }
        defaultDevice_ = settings.defaultDevice;
    } else {
        ADVSTEP_RETURN_IF_ERROR(StartLocked(configPath));
        defaultDevice_ = settings_.defaultDevice;
    }
    SetContextMaker([] { return TheDeviceRegistry().SetDefault(); });
    references_ = 1;
    return {};
}

Status DeviceRegistry::EnsureStarted() {
    if (started_.load(std::memory_order_acquire)) {
        return {};
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    return started_.load(std::memory_order_relaxed) ? Status() : StartLocked(nullptr);
}

Status DeviceRegistry::StartLocked(const char* configPath) {
    Settings settings;
    ADVSTEP_RETURN_IF_ERROR(LoadSettings(configPath, &settings));
    Entries entries;
    for (int32_t id = 0; id < settings.devices; ++id) {
        const auto made = std::find_if(everMade_.begin(), everMade_.end(), [&](const auto& entry) {
            return entry->device.id() == id && SameMachine(entry->device.settings(), settings);
        });
        if (made != everMade_.end()) {
            entries.push_back(made->get());
        } else {
            everMade_.push_back(std::make_unique<Entry>(id, settings));
            entries.push_back(everMade_.back().get());
        }
    }
    TheTrace().Close();
    if (!settings.trace.empty()) {
        ADVSTEP_RETURN_IF_ERROR(TheTrace().Open(settings.trace));
    }
    ADVSTEP_RETURN_IF_ERROR(StartSanitizer(settings.sanitizer));
    if (SanitizingWork()) {
        TheDeviceSanitizer().AskForPeers(&HasPeerAccess);
    }
    SetLogLevel(settings.logLevel);
    SetLeakMode(settings.leaks);
    SetSourceLines(settings.sourceLines);
    LogSettings(settings);
    TheGuardedMemory().SetMode(settings.guard);
    const bool checksSync = Sanitizing(SanitizerCheck::kSync);
    if (ForkedFromUse()) {
        TellUseAfterFork(nullptr);
    }
    SetRuntimeInUse(checksSync ? &settings.sanitizer : nullptr);
    TellUnusedAtExit();
    TheHangWatch().Start(settings.hangSeconds);
    settings_ = std::move(settings);
    entries_ = std::move(entries);
    started_.store(true, std::memory_order_release);
    return {};
}

bool DeviceRegistry::InUseLocked() const {
    bool inUse = false;
    TheContexts().ForEach([&](const Context& context) {
        inUse = inUse || context.handle.load(std::memory_order_relaxed) != 0;
    });
    return inUse;
}

Status DeviceRegistry::ReadSettings(Settings* settings) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (started_.load(std::memory_order_relaxed)) {
            *settings = settings_;
            return {};
        }
    }
    return LoadSettings(nullptr, settings);
}

// Devices and their uses.

Status DeviceRegistry::Count(uint32_t* count) {
    ADVSTEP_RETURN_IF_ERROR(EnsureStarted());
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAnyDeviceLocked());
    *count = static_cast<uint32_t>(settings_.devices);
    return {};
}

Status DeviceRegistry::CountBeforeStart(uint32_t* count) {
    Settings settings;
    ADVSTEP_RETURN_IF_ERROR(ReadSettings(&settings));
    if (!settings.noDevice.empty()) {
        return Error(ACL_ERROR_RT_NO_DEVICE, "{}", settings.noDevice);
    }
    *count = static_cast<uint32_t>(settings.devices);
    return {};
}

const char* DeviceRegistry::SocName(Status* status) {
    *status = EnsureStarted();
    if (!status->ok()) {
        return nullptr;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    *status = CheckAnyDeviceLocked();
    if (!status->ok()) {
        return nullptr;
    }
    return entries_.front()->device.settings().soc.name.c_str();  // devices stay for ever
}

Status DeviceRegistry::CheckAnyDeviceLocked() const {
    return settings_.noDevice.empty() ? Status()
                                      : Error(ACL_ERROR_RT_NO_DEVICE, "{}", settings_.noDevice);
}

Status DeviceRegistry::Find(int32_t deviceId, const Device** device, const char* argument) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry* found = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindLocked(deviceId, &found, argument));
    *device = &found->device;
    return {};
}

Status DeviceRegistry::FindLocked(int32_t deviceId, Entry** entry, const char* argument) {
    if (!started_.load(std::memory_order_relaxed)) {
        ADVSTEP_RETURN_IF_ERROR(StartLocked(nullptr));
    }
    ADVSTEP_RETURN_IF_ERROR(CheckAnyDeviceLocked());
    const auto count = static_cast<int32_t>(entries_.size());
    if (deviceId < 0 || deviceId >= count) {
        return Error(ACL_ERROR_RT_INVALID_DEVICEID,
                     "{} is {}; expected 0 <= {} < device count = {}", argument, deviceId, argument,
                     count);
    }
    *entry = entries_[static_cast<size_t>(deviceId)];
    return {};
}

Status DeviceRegistry::FindUsable(std::unique_lock<std::mutex>& lock, int32_t deviceId,
                                  Entry** entry) {
    ADVSTEP_RETURN_IF_ERROR(FindLocked(deviceId, entry));
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it was found
    while ((*entry)->ending) {
        if (InsideTask() || InsideCallback()) {
            return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "device {} is being reset, which waits for the host function or callback "
                         "that calls this; expected another thread",
                         deviceId);
        }
        ADVSTEP_RETURN_IF_ERROR(WaitUntilEnded(lock, (*entry)->device));
        ADVSTEP_RETURN_IF_ERROR(FindLocked(deviceId, entry));
    }
    return {};
}

Status DeviceRegistry::HasPrimary(int32_t deviceId, bool* active) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry* entry = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindLocked(deviceId, &entry));
    *active = entry->primary.context != nullptr;
    return {};
}

Status DeviceRegistry::Set(int32_t deviceId) {
    std::unique_lock<std::mutex> lock(mutex_);
    return SetLocked(lock, deviceId);
}

Status DeviceRegistry::SetDefault() {
    std::unique_lock<std::mutex> lock(mutex_);
    // The end of the runtime, which may be under way, removes the setting.
    while (defaultDevice_ && !InsideTask() && !InsideCallback()) {
        const Entry* const entry = entries_[static_cast<size_t>(*defaultDevice_)];
        if (!entry->ending) {
            break;
        }
        ADVSTEP_RETURN_IF_ERROR(WaitUntilEnded(lock, entry->device));
    }
    return defaultDevice_ ? SetLocked(lock, *defaultDevice_) : Status(ACL_ERROR_RT_CONTEXT_NULL);
}

Status DeviceRegistry::SetLocked(std::unique_lock<std::mutex>& lock, int32_t deviceId) {
    Entry* entry = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindUsable(lock, deviceId, &entry));
    if (entry->primary.context == nullptr) {
        entry->primary = CreateContext(&entry->device, true);
    }
    ++entry->uses;
    SetCurrentContext(entry->primary);
    return {};
}

Status DeviceRegistry::MakeContext(int32_t deviceId, ContextRef* context) {
    std::unique_lock<std::mutex> lock(mutex_);
    Entry* entry = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindUsable(lock, deviceId, &entry));
    *context = CreateContext(&entry->device, false);
    return {};
}

// The end of a device, and of the runtime.

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

Status DeviceRegistry::Finalize() {
    uint64_t left = 0;
    return End(true, &left);
}

Status DeviceRegistry::FinalizeReference(uint64_t* left) { return End(false, left); }

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
    TheWorkers().Stop();
    TheHangWatch().Stop();
    SetRuntimeInUse(nullptr);
    binaries = TheKernelBinaries().TakeAll();
    EventWaitSeconds().store(0);
    ForgetExceptionCallbacks();
    ForgetStreamStateCallbacks();
    TheAllocators().Clear();
    ForgetTaskAbortCallbacks();
    ResetProcessOptions();
    TheTrace().Close();
    *left = 0;
    const std::lock_guard<std::mutex> lock(mutex_);
    references_ = 0;
    defaultDevice_.reset();
    started_.store(false, std::memory_order_release);
    return SetEnded(entries, {});
}

bool DeviceRegistry::WouldEnd(bool all) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return references_ == 1 || (all && references_ > 0);
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

}  // namespace advstep
