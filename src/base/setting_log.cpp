// SPDX-License-Identifier: Apache-2.0
// The lines of the log about the settings, when the runtime starts.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "src/base/settings.h"

namespace advstep {
namespace {

constexpr char kPrefix[] = "ADVANCE_STEP_";

// Variables of the Python package, the examples and the tests, which are no settings.
constexpr const char* kOthers[] = {"ADVANCE_STEP_BUILD", "ADVANCE_STEP_LIBRARY",
                                   "ADVANCE_STEP_HOST_OPERATORS"};
constexpr char kOfTests[] = "ADVANCE_STEP_TEST_";

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

std::string Nearest(const std::string& name) {
    const std::vector<std::string> known = SettingNames();
    return *std::min_element(known.begin(), known.end(),
                             [&](const std::string& one, const std::string& other) {
                                 return Distance(name, one) < Distance(name, other);
                             });
}

bool IsKnown(const std::string& name) {
    return IsSettingName(name) || StartsWith(name, kOfTests) ||
           std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers);
}

}  // namespace

void LogSettings(const Settings& settings) {
    std::string chosen;
    for (const char* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        if (std::strncmp(*entry, kPrefix, std::strlen(kPrefix)) != 0) {
            continue;
        }
        const std::string text = *entry;
        const std::string name = text.substr(0, text.find('='));
        if (IsSettingName(name)) {
            chosen += " " + text;
        } else if (!IsKnown(name) && settings.logLevel != LogLevel::kOff) {
            LogLine(LogLevel::kWarn,
                    fmt::format("the environment has {}, which is no setting; the nearest is {}",
                                name, Nearest(name)));
        }
    }
    Log(LogLevel::kInfo, "settings of the environment:{}", chosen.empty() ? " none" : chosen);
    Log(LogLevel::kInfo,
        "{} devices of SoC {}: {} vector cores and {} bytes of memory each, on {} threads",
        settings.devices, settings.soc.name, settings.soc.vectorCores, settings.memoryBytes,
        settings.threads);
}

}  // namespace advstep
