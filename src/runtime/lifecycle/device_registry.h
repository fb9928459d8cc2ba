#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "src/base/settings.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/context.h"

namespace advstep {

/// Start and end of the runtime, and its devices.
///
/// mutex_ guards all members with the entries; it is never held while work is waited for, so host
/// functions may come here. A reset or the end waits with teardown_ only, which makes them one at a
/// time; until it is through, the devices it takes down are `ending` and a thread that wants to use
/// one of them waits on ended_.
class DeviceRegistry {
 public:
    static DeviceRegistry& Instance();

    /// As aclInit. Codes: 100002, and those of LoadSettings.
    Status Init(const char* configPath);
    /// As aclFinalize. Codes: 100037; 207000 inside a host function.
    Status Finalize();
    /// Takes one reference off and ends the runtime with the last one. Codes as Finalize.
    Status FinalizeReference(uint64_t* left);

    /// Reads the settings unless they have been. Codes: those of LoadSettings.
    Status EnsureStarted();

    Status Count(uint32_t* count);
    /// 107001: no such device. Devices stay for ever.
    Status Find(int32_t deviceId, const Device** device);
    /// Whether the device has a primary context. 107001: no such device.
    Status HasPrimary(int32_t deviceId, bool* active);
    /// The SoC's name, or null when the settings are not valid.
    const char* SocName(Status* status);

    /// 107001: no such device; 207000: inside a host function, for a device that is being reset.
    /// The primary context becomes the caller's current one.
    Status Set(int32_t deviceId);
    /// 107001; 507007 not set; 207000 inside a host function.
    Status Reset(int32_t deviceId, bool force);
    /// A context of the device. Codes as Set.
    Status MakeContext(int32_t deviceId, ContextRef* context);

 private:
    /// A device, and what the registry knows of it.
    struct Entry {
        Entry(int32_t id, const Settings& settings) : device(id, settings) {}

        Device device;
        int64_t uses = 0;     // of aclrtSetDevice
        bool ending = false;  // being reset
        ContextRef primary;
    };
    using Entries = std::vector<Entry*>;

    /// No device stays `ending` when an exception comes.
    class EndingGuard {
     public:
        EndingGuard(DeviceRegistry* registry, const Entries& entries)
            : registry_(registry), entries_(entries) {}
        ~EndingGuard();
        EndingGuard(const EndingGuard&) = delete;
        EndingGuard& operator=(const EndingGuard&) = delete;

     private:
        DeviceRegistry* const registry_;
        const Entries& entries_;  // no copy, which needs memory
        const int exceptions_ = std::uncaught_exceptions();
    };

    Status StartLocked(const char* configPath);
    Status FindLocked(int32_t deviceId, Entry** entry);
    /// FindLocked, once nobody takes the device down.
    Status FindUsable(std::unique_lock<std::mutex>& lock, int32_t deviceId, Entry** entry);
    bool InUseLocked() const;
    /// Finalize, if `all` or with the last reference.
    Status End(bool all, uint64_t* left);
    /// Whether End would end the runtime now.
    bool WouldEnd(bool all);
    /// What Reset would end now; null: nothing.
    const Context* WouldReset(int32_t deviceId, bool force);
    void SetEnding(const Entries& entries);
    /// They have ended; not if that was `refused`, which is returned.
    Status SetEnded(const Entries& entries, Status refused);

    std::mutex teardown_;  // taken before mutex_
    std::mutex mutex_;
    std::condition_variable ended_;
    std::atomic<bool> started_{false};
    uint64_t references_ = 0;  // of aclInit
    Settings settings_;
    Entries entries_;  // of the settings in force, by device id
    // Devices of all settings there have been: late readers may still hold one.
    std::vector<std::unique_ptr<Entry>> everMade_;
};

}  // namespace advstep
