// SPDX-License-Identifier: Apache-2.0
// Starts the runtime and hands out its devices.

#include "src/runtime/lifecycle/device_registry.h"

#include <algorithm>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/commands/callbacks.h"
#include "src/runtime/memory/guarded_memory.h"
#include "src/runtime/stream/contexts.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/trace/trace.h"

namespace advstep {
namespace {

bool SameMachine(const Settings& a, const Settings& b) {
    return a.conformance == b.conformance && a.soc.name == b.soc.name && a.threads == b.threads &&
           a.isa == b.isa && a.memoryBytes == b.memoryBytes && a.queueTasks == b.queueTasks &&
           a.coreOrder == b.coreOrder && a.onDivergence == b.onDivergence &&
           a.visibleDevices == b.visibleDevices;
}

}  // namespace

DeviceRegistry& DeviceRegistry::Instance() {
    static NeverDestroyed<DeviceRegistry> registry;
    return *registry;
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
    Trace::Instance().Close();
    if (!settings.trace.empty()) {
        ADVSTEP_RETURN_IF_ERROR(Trace::Instance().Open(settings.trace));
    }
    SetLogLevel(settings.logLevel);
    SetLeakMode(settings.leaks);
    LogSettings(settings);
    GuardedMemory::Instance().SetMode(settings.guard);
    settings_ = std::move(settings);
    entries_ = std::move(entries);
    started_.store(true, std::memory_order_release);
    return {};
}

Status DeviceRegistry::EnsureStarted() {
    if (started_.load(std::memory_order_acquire)) {
        return {};
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    return started_.load(std::memory_order_relaxed) ? Status() : StartLocked(nullptr);
}

bool DeviceRegistry::InUseLocked() const {
    bool inUse = false;
    Contexts().ForEach([&](const Context& context) {
        inUse = inUse || context.handle.load(std::memory_order_relaxed) != 0;
    });
    return inUse;
}

Status DeviceRegistry::Init(const char* configPath) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (references_ > 0) {
        ++references_;
        return Error(ACL_ERROR_REPEAT_INITIALIZE,
                     "the runtime is initialised; this is reference {}", references_);
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
    SetContextMaker([] { return DeviceRegistry::Instance().SetDefault(); });
    references_ = 1;
    return {};
}

Status DeviceRegistry::CheckAnyDeviceLocked() const {
    return settings_.noDevice.empty() ? Status()
                                      : Error(ACL_ERROR_RT_NO_DEVICE, "{}", settings_.noDevice);
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

Status DeviceRegistry::Find(int32_t deviceId, const Device** device, const char* argument) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry* found = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindLocked(deviceId, &found, argument));
    *device = &found->device;
    return {};
}

Status DeviceRegistry::Count(uint32_t* count) {
    ADVSTEP_RETURN_IF_ERROR(EnsureStarted());
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAnyDeviceLocked());
    *count = static_cast<uint32_t>(settings_.devices);
    return {};
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

Status DeviceRegistry::CountBeforeStart(uint32_t* count) {
    Settings settings;
    ADVSTEP_RETURN_IF_ERROR(ReadSettings(&settings));
    if (!settings.noDevice.empty()) {
        return Error(ACL_ERROR_RT_NO_DEVICE, "{}", settings.noDevice);
    }
    *count = static_cast<uint32_t>(settings.devices);
    return {};
}

Status DeviceRegistry::HasPrimary(int32_t deviceId, bool* active) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry* entry = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindLocked(deviceId, &entry));
    *active = entry->primary.context != nullptr;
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

}  // namespace advstep
