// SPDX-License-Identifier: Apache-2.0
// Reads the settings from file and environment, and checks their values.

#include "src/base/settings.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <thread>

#include "acl/acl_base.h"
#include "src/base/cann_version.h"

namespace advstep {
namespace {

constexpr int32_t kMostVectorCores = 65536;
constexpr int32_t kMostDevices = 1024;
constexpr int32_t kMostThreads = 1024;

std::optional<uint64_t> ParseNumber(const std::string& text) {
    uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc() && result.ptr == end && !text.empty()
               ? std::optional<uint64_t>(value)
               : std::nullopt;
}

std::optional<uint64_t> ParseBytes(std::string text) {
    int shift = 0;
    if (!text.empty()) {
        switch (text.back()) {
            case 'K':
                shift = 10;
                break;
            case 'M':
                shift = 20;
                break;
            case 'G':
                shift = 30;
                break;
            default:
                break;
        }
    }
    if (shift != 0) {
        text.pop_back();
    }
    const std::optional<uint64_t> value = ParseNumber(text);
    if (!value || *value == 0 || *value > (std::numeric_limits<uint64_t>::max() >> shift)) {
        return std::nullopt;
    }
    return *value << shift;
}

bool SetCount(const std::string& text, int32_t most, int32_t* count) {
    const std::optional<uint64_t> value = ParseNumber(text);
    if (!value || *value < 1 || *value > static_cast<uint64_t>(most)) {
        return false;
    }
    *count = static_cast<int32_t>(*value);
    return true;
}

template <typename Value>
struct Choice {
    const char* text;
    Value value;
};

template <typename Value, size_t kCount>
bool Choose(const std::string& text, const Choice<Value> (&choices)[kCount], Value* chosen) {
    for (const Choice<Value>& choice : choices) {
        if (text == choice.text) {
            *chosen = choice.value;
            return true;
        }
    }
    return false;
}

constexpr Choice<Conformance> kConformances[] = {{"standard", Conformance::kStandard},
                                                 {"vllm", Conformance::kVllm},
                                                 {"exact", Conformance::kExact}};
constexpr Choice<OnDivergence> kDivergences[] = {{"ignore", OnDivergence::kIgnore},
                                                 {"warn", OnDivergence::kWarn},
                                                 {"error", OnDivergence::kError}};
constexpr Choice<Isa> kIsas[] = {
    {"baseline", Isa::kBaseline}, {"avx2", Isa::kAvx2}, {"avx512", Isa::kAvx512}};
constexpr Choice<GuardMode> kGuards[] = {
    {"off", GuardMode::kOff}, {"after", GuardMode::kAfter}, {"before", GuardMode::kBefore}};
constexpr Choice<LogLevel> kLogLevels[] = {{"off", LogLevel::kOff},
                                           {"error", LogLevel::kError},
                                           {"warn", LogLevel::kWarn},
                                           {"info", LogLevel::kInfo},
                                           {"debug", LogLevel::kDebug}};

constexpr Choice<LeakMode> kLeakModes[] = {
    {"off", LeakMode::kOff}, {"report", LeakMode::kReport}, {"fail", LeakMode::kFail}};

bool SetSoc(const std::string& text, Settings* settings) {
    const std::optional<SocSpec> soc = FindSoc(text);
    if (soc) {
        settings->soc = *soc;
    }
    return soc.has_value();
}

bool SetIsa(const std::string& text, Settings* settings) {
    Isa isa = BestIsa();
    if (text != "auto" && !(Choose(text, kIsas, &isa) && IsSupported(isa))) {
        return false;
    }
    settings->isa = isa;
    return true;
}

bool SetMemory(const std::string& text, Settings* settings) {
    const std::optional<uint64_t> bytes = ParseBytes(text);
    if (bytes) {
        settings->memoryBytes = *bytes;
    }
    return bytes.has_value();
}

bool SetQueue(const std::string& text, Settings* settings) {
    const std::optional<uint64_t> tasks = ParseNumber(text);
    if (tasks) {
        settings->queueTasks = *tasks;
    }
    return tasks.has_value();
}

bool SetCoreOrder(const std::string& text, Settings* settings) {
    if (text == "ascending") {
        settings->coreOrder.reset();
        return true;
    }
    settings->coreOrder = ParseNumber(text);
    return settings->coreOrder.has_value();
}

struct SettingRow {
    const char* name;
    const char* expected;
    bool (*set)(const std::string& text, Settings* settings);
};

const SettingRow kSettings[] = {
    {"ADVANCE_STEP_CONFORMANCE", "standard, vllm or exact",
     [](const std::string& text, Settings* s) {
         return Choose(text, kConformances, &s->conformance);
     }},
    {"ADVANCE_STEP_SOC",
     "Ascend910B1, Ascend910B2, Ascend910B3, Ascend910B4, Ascend910_9391 or sim:<vector cores>",
     SetSoc},
    {"ADVANCE_STEP_DEVICES", "a number from 1 to 1024",
     [](const std::string& text, Settings* s) {
         return SetCount(text, kMostDevices, &s->devices);
     }},
    {"ADVANCE_STEP_THREADS", "a number from 1 to 1024",
     [](const std::string& text, Settings* s) {
         return SetCount(text, kMostThreads, &s->threads);
     }},
    {"ADVANCE_STEP_MEMORY", "bytes >= 1, with K, M or G after the number if wanted", SetMemory},
    {"ADVANCE_STEP_QUEUE", "a number of tasks, or 0 for no limit", SetQueue},
    {"ADVANCE_STEP_CORE_ORDER", "ascending or a seed >= 0", SetCoreOrder},
    {"ADVANCE_STEP_GUARD", "off, after or before",
     [](const std::string& text, Settings* s) { return Choose(text, kGuards, &s->guard); }},
    {"ADVANCE_STEP_ON_DIVERGENCE", "ignore, warn or error",
     [](const std::string& text, Settings* s) {
         return Choose(text, kDivergences, &s->onDivergence);
     }},
    {"ADVANCE_STEP_ISA", "auto, baseline, or one of avx2 and avx512 that this machine has", SetIsa},
    {"ADVANCE_STEP_LOG", "off, error, warn, info or debug",
     [](const std::string& text, Settings* s) { return Choose(text, kLogLevels, &s->logLevel); }},
    {"ADVANCE_STEP_LEAKS", "off, report or fail",
     [](const std::string& text, Settings* s) { return Choose(text, kLeakModes, &s->leaks); }},
    {"ADVANCE_STEP_TRACE", "the path of a file to write",
     [](const std::string& text, Settings* s) {
         s->trace = text;
         return !text.empty();
     }},
    {"ADVANCE_STEP_CANN_VERSION",
     "MAJOR.MINOR.PATCH, with -alpha.N, -beta.N or -rc.N after it if wanted",
     [](const std::string& text, Settings* s) {
         s->cannVersion = text;
         return ParseCannVersion(text).has_value();
     }},
};

Status SetDefaultDevice(const std::string& text, const char* path, Settings* settings) {
    const std::optional<uint64_t> number = ParseNumber(text);
    if (!number || *number >= static_cast<uint64_t>(settings->devices)) {
        return Error(ACL_ERROR_INTERNAL_ERROR,
                     "default_device in the file {} is \"{}\"; expected 0 <= default_device < "
                     "device count = {}",
                     path, text, settings->devices);
    }
    settings->defaultDevice = static_cast<int32_t>(*number);
    return {};
}

uint64_t HalfOfHostMemory() {
    struct sysinfo info {};
    if (sysinfo(&info) != 0) {
        return uint64_t{1} << 30;
    }
    return uint64_t{info.totalram} * info.mem_unit / 2;
}

}  // namespace

std::optional<SocSpec> FindSoc(const std::string& name) {
    constexpr char kSimulated[] = "sim:";
    if (name.rfind(kSimulated, 0) == 0) {
        SocSpec soc;
        soc.name = name;
        if (!SetCount(name.substr(sizeof(kSimulated) - 1), kMostVectorCores, &soc.vectorCores)) {
            return std::nullopt;
        }
        soc.aiCores = (soc.vectorCores + 1) / 2;
        return soc;
    }
    for (const char* known : {"Ascend910B3", "Ascend910B4"}) {
        if (name == known) {
            return SocSpec{name, 20, 40};
        }
    }
    for (const char* known : {"Ascend910B1", "Ascend910B2", "Ascend910_9391"}) {
        if (name == known) {
            return SocSpec{name, 24, 48};
        }
    }
    return std::nullopt;
}

bool IsSettingName(const std::string& name) {
    return std::any_of(std::begin(kSettings), std::end(kSettings),
                       [&](const SettingRow& row) { return name == row.name; });
}

std::vector<std::string> SettingNames() {
    std::vector<std::string> names;
    for (const SettingRow& row : kSettings) {
        names.emplace_back(row.name);
    }
    return names;
}

Status LoadSettings(const char* configPath, Settings* settings) {
    SettingsFile contents;
    const SettingTexts& file = contents.texts;
    const bool hasFile = configPath != nullptr && *configPath != '\0';
    if (hasFile) {
        ADVSTEP_RETURN_IF_ERROR(ReadSettingsFile(configPath, &contents));
    }
    Settings loaded;
    loaded.threads = std::max(1, static_cast<int32_t>(std::thread::hardware_concurrency()));
    loaded.memoryBytes = HalfOfHostMemory();
    loaded.isa = BestIsa();
    for (const SettingRow& row : kSettings) {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets a variable
        const char* const environment = std::getenv(row.name);
        const auto entry = file.find(row.name);
        if (environment == nullptr && entry == file.end()) {
            continue;
        }
        const std::string text = environment != nullptr ? environment : entry->second;
        if (!row.set(text, &loaded)) {
            return Error(ACL_ERROR_FILE_ATTR_INVALID, "{} is \"{}\" in the {}; expected {}",
                         row.name, text,
                         environment != nullptr ? std::string("environment")
                                                : fmt::format("file {}", configPath),
                         row.expected);
        }
    }
    // Programs map device memory in units of 2 MiB, and expect a total of whole units.
    constexpr uint64_t kUnit = uint64_t{2} << 20;
    if (loaded.memoryBytes > kUnit) {
        loaded.memoryBytes -= loaded.memoryBytes % kUnit;
    }
    ApplyVisibleDevices(&loaded);
    if (contents.defaultDevice) {
        ADVSTEP_RETURN_IF_ERROR(SetDefaultDevice(*contents.defaultDevice, configPath, &loaded));
    }
    *settings = std::move(loaded);
    return {};
}

}  // namespace advstep
