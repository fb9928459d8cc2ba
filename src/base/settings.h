// SPDX-License-Identifier: Apache-2.0
// The settings of the emulated machine.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "op_kernel/common/isa.h"
#include "src/base/log.h"
#include "src/base/status.h"

namespace advstep {

/// The reading of the AdvanceStep formula that the device follows: docs/operators/advance_step.md.
enum class Conformance { kStandard, kVllm, kExact };

/// The reaction to a call whose result would differ under conformance exact.
enum class OnDivergence { kIgnore, kWarn, kError };

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
    uint64_t queueTasks = uint64_t{1} << 20;  // the most that a stream may hold; 0: no limit
    std::optional<uint64_t> coreOrder;        // seed of a shuffled order; no value: ascending
    GuardMode guard = GuardMode::kOff;
    OnDivergence onDivergence = OnDivergence::kIgnore;
    Isa isa = Isa::kBaseline;  // instruction set of the kernels; this machine supports it
    LogLevel logLevel = LogLevel::kError;
    std::string trace;  // path of the trace file; empty: no trace
};

/// Returns the SoC with that name, or the simulated one of "sim:<vector cores>"; no value if the
/// name is unknown.
std::optional<SocSpec> FindSoc(const std::string& name);

using SettingTexts = std::map<std::string, std::string>;

/// Reads the object "advance_step" of a JSON file. 100003: the file cannot be read. 100006: the
/// file is not JSON. 100008: an entry is not a setting.
Status ReadSettingsFile(const std::string& path, SettingTexts* texts);

/// Loads the settings of this process. The environment takes precedence over the file (null or "":
/// no file), and the file over the defaults. The codes are those of ReadSettingsFile, and 100008: a
/// value is bad. A failing call does not change *settings.
Status LoadSettings(const char* configPath, Settings* settings);

/// Returns whether this is the name of a setting, as in the environment.
bool IsSettingName(const std::string& name);

}  // namespace advstep
