// SPDX-License-Identifier: Apache-2.0
// The settings of the emulated machine.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "advance_step/operator/environment.hpp"
#include "src/base/device_limits.h"
#include "src/base/isa.h"
#include "src/base/live_objects.h"
#include "src/base/log.h"
#include "src/base/sanitizer_settings.h"
#include "src/base/status.h"

namespace advstep {

// The operator interface defines both; docs/operators/advance_step.md explains them.
using advance_step::op::Conformance;
using advance_step::op::OnDivergence;

/// The position of an unmapped page relative to a device allocation.
enum class GuardMode { kOff, kAfter, kBefore };

struct SocSpec {
    std::string name = "Ascend910B3";
    int32_t aiCores = 20;
    int32_t vectorCores = 40;
    int64_t unifiedBufferBytes = 196608;  // of one vector core
    int64_t l2CacheBytes = int64_t{192} << 20;
};

/// The emulated machine. docs/runtime.md has the variables and their defaults.
struct Settings {
    Conformance conformance = Conformance::kStandard;
    SocSpec soc;
    int32_t devices = 2;
    int32_t threads = 1;                      // OS threads that run the cores of one device
    uint64_t memoryBytes = 0;                 // device memory of one device
    uint64_t sharedBytes = 0;                 // the most of all devices together; 0: no limit
    uint64_t queueTasks = uint64_t{1} << 20;  // the most tasks in one stream; 0: no limit
    DeviceLimits limits;                      // that replace those of the SoC
    int32_t hangSeconds = 0;                  // until a waiting call is told; 0: never
    std::optional<uint64_t> coreOrder;        // the seed of a shuffled order; no value: ascending
    GuardMode guard = GuardMode::kOff;
    OnDivergence onDivergence = OnDivergence::kIgnore;
    Isa isa = Isa::kBaseline;  // the instruction set of kernels, which this machine supports
    LogLevel logLevel = LogLevel::kError;
    LeakMode leaks = LeakMode::kOff;
    bool sourceLines = true;  // of the call stacks of leaks and findings
    SanitizerSettings sanitizer;
    std::string trace;                  // path of the trace file; empty: no trace
    std::string cannVersion = "9.2.0";  // of the packages, for the version calls

    int32_t machineDevices = 0;  // whatever ASCEND_RT_VISIBLE_DEVICES selects

    /// The machine's numbers of the process's devices, in the order of the process's numbers, if
    /// ASCEND_RT_VISIBLE_DEVICES selects them; `devices` is their count. Empty: the variable is not
    /// set, or is wrong.
    std::vector<int32_t> visibleDevices;
    std::string noDevice;  // the message if ASCEND_RT_VISIBLE_DEVICES leaves no device; else empty

    /// The device that a thread without a context gets, from aclInit's file.
    std::optional<int32_t> defaultDevice;

    /// Returns the machine's number of a device of the process.
    int32_t PhysicalDevice(int32_t device) const {
        return visibleDevices.empty() ? device : visibleDevices[static_cast<size_t>(device)];
    }
};

/// Returns the SoC with that name, or the simulated SoC of a name "sim:<vector cores>"; no value if
/// the name is unknown.
std::optional<SocSpec> FindSoc(const std::string& name);

using SettingTexts = std::map<std::string, std::string>;

/// The parts of aclInit's file that have an effect.
struct SettingsFile {
    SettingTexts texts;                        // the object "advance_step"
    std::optional<std::string> defaultDevice;  // the device in the object "defaultDevice"
};

/// Reads a JSON file. 100003: the file cannot be read. 100006: it is no JSON object. 100008:
/// "advance_step" is no object, or an entry of it is no setting. 500000: "defaultDevice" names no
/// device.
Status ReadSettingsFile(const std::string& path, SettingsFile* contents);

/// Checks the file of aclmdlSetDump. 100003: the file cannot be read. 100006: it is no JSON object.
/// 100009: its "dump" is missing or is no object.
Status CheckDumpFile(const std::string& path);

/// Loads the settings of this process. The environment takes precedence over the file (null or "":
/// no file), and the file over the defaults. The codes are those of ReadSettingsFile, and 100008: a
/// value is wrong. A call that fails does not change *settings. A program with other rights than
/// its caller, as one that is set-user-id, takes nothing from the environment (secure_getenv).
Status LoadSettings(const char* configPath, Settings* settings);

/// Returns whether this is the name of a setting, which is that of its environment variable.
bool IsSettingName(const std::string& name);

/// Logs the settings of the environment at level info, when the runtime starts. Warns about
/// environment variables that look like settings and are none, with the nearest name, unless the
/// log is off.
void LogSettings(const Settings& settings);

}  // namespace advstep
