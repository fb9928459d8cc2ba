// SPDX-License-Identifier: Apache-2.0
// Reads the settings from file and environment, checks their values, and logs them.

#include "src/base/settings.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>
#include <thread>
#include <utility>

#include "acl/acl_base.h"
#include "advance_step/version.h"
#include "src/base/cann_version.h"
#include "src/base/host_memory.h"

namespace advstep {
namespace {

// The values of settings.

constexpr int32_t kMostVectorCores = 65536;
constexpr int32_t kMostDevices = 1024;
constexpr int32_t kMostThreads = 1024;
constexpr int32_t kMostHangSeconds = 1'000'000;

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

constexpr Choice<bool> kSwitch[] = {{"on", true}, {"off", false}};
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
    {"ADVANCE_STEP_LIMITS",
     "NAME=NUMBER with commas between them, of streams, events, notifies, models and pinned_bytes",
     [](const std::string& text, Settings* s) { return s->limits.Read(text); }},
    {"ADVANCE_STEP_HANG", "seconds from 1 to 1000000",
     [](const std::string& text, Settings* s) {
         return SetCount(text, kMostHangSeconds, &s->hangSeconds);
     }},
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
    {"ADVANCE_STEP_SOURCE_LINES", "on or off",
     [](const std::string& text, Settings* s) { return Choose(text, kSwitch, &s->sourceLines); }},
    {"ADVANCE_STEP_SANITIZE",
     "off, or some of all, memory, race, init, sync, limits, and host beside race, with commas "
     "between them",
     [](const std::string& text, Settings* s) {
         return ReadSanitizerChecks(text, &s->sanitizer.checks);
     }},
    {"ADVANCE_STEP_SANITIZE_ACTION", "report, fail or stop",
     [](const std::string& text, Settings* s) {
         return ReadSanitizerAction(text, &s->sanitizer.action);
     }},
    {"ADVANCE_STEP_SANITIZE_FILE", "the path of a file to write",
     [](const std::string& text, Settings* s) {
         s->sanitizer.file = text;
         return !text.empty();
     }},
    {"ADVANCE_STEP_SANITIZE_SUPPRESSIONS", "the path of a file to read",
     [](const std::string& text, Settings* s) {
         return ReadSuppressions(text, &s->sanitizer.suppressions);
     }},
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

constexpr uint64_t kMemoryOfSoc = uint64_t{64} << 30;

// The devices of the process.

constexpr char kVisibleDevices[] = "ASCEND_RT_VISIBLE_DEVICES";

// Returns the numbers before the first entry that is no number or no device.
std::vector<int32_t> ReadDeviceNumbers(std::string_view text, int32_t devices) {
    std::vector<int32_t> numbers;
    while (true) {
        const size_t comma = text.find(',');
        std::string_view entry = text.substr(0, comma);
        while (!entry.empty() && entry.front() == ' ') {
            entry.remove_prefix(1);
        }
        while (!entry.empty() && entry.back() == ' ') {
            entry.remove_suffix(1);
        }
        int32_t number = -1;
        const char* const end = entry.data() + entry.size();
        const auto result = std::from_chars(entry.data(), end, number);
        if (result.ec != std::errc() || result.ptr != end || number < 0 || number >= devices) {
            return numbers;
        }
        numbers.push_back(number);
        if (comma == std::string_view::npos) {
            return numbers;
        }
        text.remove_prefix(comma + 1);
    }
}

bool IsAscending(const std::vector<int32_t>& numbers) {
    for (size_t i = 1; i < numbers.size(); ++i) {
        if (numbers[i] <= numbers[i - 1]) {
            return false;
        }
    }
    return true;
}

// Keeps `devices` as `machineDevices`. Reads ASCEND_RT_VISIBLE_DEVICES if it is set, and sets
// `visibleDevices` and their number, `devices`. If the value is wrong, `devices` becomes 0, and
// `noDevice` gets a message.
void ApplyVisibleDevices(Settings* settings) {
    settings->machineDevices = settings->devices;
    const char* const text = secure_getenv(kVisibleDevices);
    if (text == nullptr) {
        return;
    }
    std::vector<int32_t> numbers = ReadDeviceNumbers(text, settings->devices);
    if (numbers.empty() || !IsAscending(numbers)) {
        settings->noDevice = fmt::format(
            "{} is \"{}\"; expected numbers from 0 to {} in ascending order, with commas "
            "between them",
            kVisibleDevices, text, settings->devices - 1);
        settings->devices = 0;
        return;
    }
    settings->devices = static_cast<int32_t>(numbers.size());
    settings->visibleDevices = std::move(numbers);
}

// The variables of the environment.

constexpr char kPrefix[] = "ADVANCE_STEP_";

// Variables of the Python package, the examples and the tests, which are no settings.
constexpr const char* kOtherVariables[] = {"ADVANCE_STEP_BUILD", "ADVANCE_STEP_LIBRARY",
                                           "ADVANCE_STEP_HOST_OPERATORS", "ADVANCE_STEP_HCCL"};
constexpr char kPrefixOfTests[] = "ADVANCE_STEP_TEST_";

bool StartsWith(const std::string& text, const char* prefix) {
    return text.compare(0, std::strlen(prefix), prefix) == 0;
}

// Returns the Levenshtein distance of two texts: the least number of characters to insert, remove
// or change that makes one text the other.
size_t Distance(const std::string& one, const std::string& other) {
    std::vector<size_t> row(other.size() + 1);
    for (size_t j = 0; j <= other.size(); ++j) {
        row[j] = j;
    }
    for (size_t i = 1; i <= one.size(); ++i) {
        size_t diagonal = std::exchange(row[0], i);
        for (size_t j = 1; j <= other.size(); ++j) {
            const size_t changed = diagonal + (one[i - 1] == other[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

// Returns the name of the setting that is nearest to a wrong name.
std::string Nearest(const std::string& name) {
    const auto* const nearest =
        std::min_element(std::begin(kSettings), std::end(kSettings),
                         [&](const SettingRow& one, const SettingRow& other) {
                             return Distance(name, one.name) < Distance(name, other.name);
                         });
    return nearest->name;
}

bool IsKnownVariable(const std::string& name) {
    return IsSettingName(name) || StartsWith(name, kPrefixOfTests) ||
           std::find(std::begin(kOtherVariables), std::end(kOtherVariables), name) !=
               std::end(kOtherVariables);
}

}  // namespace

// The functions of the header.

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

Status LoadSettings(const char* configPath, Settings* settings) {
    SettingsFile contents;
    const SettingTexts& file = contents.texts;
    const bool hasFile = configPath != nullptr && *configPath != '\0';
    if (hasFile) {
        ADVSTEP_RETURN_IF_ERROR(ReadSettingsFile(configPath, &contents));
    }
    Settings loaded;
    loaded.threads = std::max(1, static_cast<int32_t>(std::thread::hardware_concurrency()));
    loaded.isa = BestIsa();
    for (const SettingRow& row : kSettings) {
        // A set-user-id program would act for its owner on the settings of its caller.
        const char* const environment = secure_getenv(row.name);
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
    if (loaded.memoryBytes == 0) {
        loaded.sharedBytes = HostShareOfDevices();
        loaded.memoryBytes = std::min(kMemoryOfSoc, loaded.sharedBytes);
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

bool IsSettingName(const std::string& name) {
    return std::any_of(std::begin(kSettings), std::end(kSettings),
                       [&](const SettingRow& row) { return name == row.name; });
}

void LogSettings(const Settings& settings) {
    std::string chosen;
    for (const char* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        if (std::strncmp(*entry, kPrefix, std::strlen(kPrefix)) != 0) {
            continue;
        }
        const std::string text = *entry;
        const std::string name = text.substr(0, text.find('='));
        if (IsSettingName(name) && secure_getenv(name.c_str()) == nullptr) {
            Log(LogLevel::kWarn,
                "{} of the environment has no effect, because the program has other rights than "
                "its caller",
                name);
        } else if (IsSettingName(name)) {
            chosen += " " + text;
        } else if (!IsKnownVariable(name) && settings.logLevel != LogLevel::kOff) {
            LogLine(LogLevel::kWarn,
                    fmt::format("the environment has {}, which is no setting; the nearest is {}",
                                name, Nearest(name)));
        }
    }
    Log(LogLevel::kInfo, "libadvance_step {}", ADVSTEP_VERSION_STRING);
    Log(LogLevel::kInfo, "settings of the environment:{}", chosen.empty() ? " none" : chosen);
    Log(LogLevel::kInfo,
        "{} devices of SoC {}: {} vector cores and {} bytes of memory each, on {} threads",
        settings.devices, settings.soc.name, settings.soc.vectorCores, settings.memoryBytes,
        settings.threads);
}

}  // namespace advstep
