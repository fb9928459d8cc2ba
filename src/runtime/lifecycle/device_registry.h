// SPDX-License-Identifier: Apache-2.0
// Start and end of the runtime, and its devices with their uses.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/settings.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/context.h"

namespace advstep {

/// The start and the end of the runtime, and its devices.
///
/// mutex_ guards all members and the entries. It is never held during a wait for work, so host
/// functions may call the registry. A reset, or the end of the runtime, waits with no lock held.
/// The devices that it ends are `ending` meanwhile: no other thread ends them, and one that wants
/// to use or end them waits in WaitUntilEnded.
class DeviceRegistry {
 public:
    /// As aclInit. 100002: the runtime is initialised already. Codes also as LoadSettings.
    Status Init(const char* configPath);
    /// Reads the settings unless they have been read. Codes as LoadSettings.
    Status EnsureStarted();
    /// Returns the settings in force, or those that a start would read now.
    Status ReadSettings(Settings* settings);

    /// Counts the devices of the runtime. 207004: ASCEND_RT_VISIBLE_DEVICES leaves none.
    Status Count(uint32_t* count);
    /// As Count. A runtime that has not started stays so: the settings are read anew.
    Status CountBeforeStart(uint32_t* count);
    /// Returns the SoC's name, or null if the settings are not valid.
    const char* SocName(Status* status);
    /// 107001: there is no such device. Devices stay for ever.
    Status Find(int32_t deviceId, const Device** device, const char* argument = "deviceId");
    /// Returns whether the device has a primary context. 107001: there is no such device.
    Status HasPrimary(int32_t deviceId, bool* active);

    /// Makes the device's primary context the caller's current one. 107001: there is no such
    /// device. 207000: the device is being reset, and a host function or a callback calls this, or
    /// the reset waits for a callback of the calling thread.
    Status Set(int32_t deviceId);
    /// Makes the default device of aclInit's file the caller's current one, as Set does. 107002:
    /// there is no such setting. Codes also as Set.
    Status SetDefault();
    /// Makes a context of the device. Codes as Set.
    Status MakeContext(int32_t deviceId, ContextRef* context);

    /// Decrements the use count of the device; at 0, or with `force`, it ends the device. 107001:
    /// there is no such device. 507007: the device is not set. 207000: a host function or a
    /// callback calls this, or the end would wait for a callback of the calling thread.
    Status Reset(int32_t deviceId, bool force);
    /// As aclFinalize. 100037: the runtime is not initialised. 207000: a host function or a
    /// callback calls this, or the end would wait for a callback of the calling thread.
    Status Finalize();
    /// Decrements the reference count; at 0 it ends the runtime. Codes as Finalize.
    Status FinalizeReference(uint64_t* left);

 private:
    /// A device, with the registry's state of it.
    struct Entry {
        Entry(int32_t id, const Settings& settings) : device(id, settings) {}

        Device device;
        int64_t uses = 0;     // calls of aclrtSetDevice without a reset
        bool ending = false;  // being reset
        ContextRef primary;
    };
    using Entries = std::vector<Entry*>;

    /// Clears `ending`, and ending_, when an exception is thrown.
    class EndingGuard {
     public:
        EndingGuard(DeviceRegistry* registry, const Entries& entries)
            : registry_(registry), entries_(entries) {}
        ~EndingGuard();
        EndingGuard(const EndingGuard&) = delete;
        EndingGuard& operator=(const EndingGuard&) = delete;

     private:
        DeviceRegistry* const registry_;
        const Entries& entries_;  // no copy, because a copy needs memory
        const int exceptions_ = std::uncaught_exceptions();
    };

    Status StartLocked(const char* configPath);
    bool InUseLocked() const;
    Status CheckAnyDeviceLocked() const;
    Status FindLocked(int32_t deviceId, Entry** entry, const char* argument = "deviceId");
    /// As FindLocked, after a wait until no thread ends the device.
    Status FindUsable(std::unique_lock<std::mutex>& lock, int32_t deviceId, Entry** entry);
    Status SetLocked(std::unique_lock<std::mutex>& lock, int32_t deviceId);
    /// Returns the context that Reset would end now. Null: there is none.
    const Context* WouldReset(int32_t deviceId, bool force);
    /// Makes the device `ending` if the call of Reset ends it, else counts down and leaves
    /// `entries` empty. Codes as Reset.
    Status BeginReset(int32_t deviceId, bool force, Entries* entries);
    /// Ends the runtime, if `all` or with the last reference.
    Status End(bool all, uint64_t* left);
    /// Returns whether End would end the runtime now.
    bool WouldEnd(bool all);
    /// Makes all devices `ending` if the call of End ends the runtime, else counts down. Codes as
    /// End.
    Status BeginEnd(bool all, bool* ends, uint64_t* left, Entries* entries);
    void SetEnding(const Entries& entries);
    /// Ends `ending`, and ending_, and clears the entries unless their end was `refused`. Returns
    /// `refused`.
    Status SetEnded(const Entries& entries, Status refused);
    /// Waits, with the lock released, for the thread that ends the device, or the runtime. May
    /// return before that, and the devices may be others then. 207000: that thread waits for a
    /// callback of the calling one.
    Status WaitUntilEnded(std::unique_lock<std::mutex>& lock, const Device& device);

    std::mutex mutex_;
    std::condition_variable ended_;
    std::atomic<bool> started_{false};
    bool ending_ = false;      // a thread ends the runtime, which may have no devices
    uint64_t references_ = 0;  // of aclInit
    Settings settings_;
    std::optional<int32_t> defaultDevice_;  // from aclInit to the end of the runtime
    Entries entries_;                       // of the present settings, by device id
    // The devices of all settings that there have been: late readers may still hold one.
    std::vector<std::unique_ptr<Entry>> everMade_;
};

DeviceRegistry& TheDeviceRegistry();

}  // namespace advstep
