#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "op_kernel/common/isa.h"
#include "src/base/log.h"
#include "src/base/status.h"

namespace advstep {

/// Which reading of the AdvanceStep formula the device follows: docs/operators/advance_step.md.
enum class Conformance { kStandard, kVllm, kExact };

/// What a call does that would give another result under conformance exact.
enum class OnDivergence { kIgnore, kWarn, kError };

/// Where a device allocation meets an unmapped page.
enum class GuardMode { kOff, kAfter, kBefore };

struct SocSpec {
    std::string name = "Ascend910B3";
    int32_t aiCores = 20;
    int32_t vectorCores = 40;
    int64_t unifiedBufferBytes = 196608;  // of one vector core
    int64_t l2CacheBytes = int64_t{192} << 20;
};

/// The emulated machine; docs/runtime.md has the variables. Defaults as there.
struct Settings {
    Conformance conformance = Conformance::kStandard;
    SocSpec soc;
    int32_t devices = 2;
    int32_t threads = 1;                // OS threads that play the cores of one device
    uint64_t memoryBytes = 0;           // of one device
    std::optional<uint64_t> coreOrder;  // seed of a shuffled order; none: ascending
    GuardMode guard = GuardMode::kOff;
    OnDivergence onDivergence = OnDivergence::kIgnore;
    Isa isa = Isa::kBaseline;  // of the kernels; this machine runs it
    LogLevel logLevel = LogLevel::kError;
    std::string trace;  // a file; empty: none
};

/// The SoC of that name, or of "sim:<vector cores>"; none if the name is unknown.
std::optional<SocSpec> FindSoc(const std::string& name);

using SettingTexts = std::map<std::string, std::string>;

/// The object "advance_step" of a JSON file. Codes: 100003 unreadable, 100006 not JSON, 100008 an
/// entry that is no setting.
Status ReadSettingsFile(const std::string& path, SettingTexts* texts);

/// Settings of this process: environment first, then the file (null or "": none), then defaults.
/// Codes: as ReadSettingsFile, and 100008 for a bad value. On error *settings is unchanged.
Status LoadSettings(const char* configPath, Settings* settings);

/// Names of all settings, as in the environment.
bool IsSettingName(const std::string& name);

}  // namespace advstep
