// SPDX-License-Identifier: Apache-2.0
// Reads ASCEND_RT_VISIBLE_DEVICES.
#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "src/base/settings.h"

namespace advstep {
namespace {

constexpr char kVariable[] = "ASCEND_RT_VISIBLE_DEVICES";

// Returns the numbers before the first entry that is no number or no device.
std::vector<int32_t> ReadNumbers(std::string_view text, int32_t devices) {
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

bool Ascends(const std::vector<int32_t>& numbers) {
    for (size_t i = 1; i < numbers.size(); ++i) {
        if (numbers[i] <= numbers[i - 1]) {
            return false;
        }
    }
    return true;
}

}  // namespace

void ApplyVisibleDevices(Settings* settings) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets a variable
    const char* const text = std::getenv(kVariable);
    if (text == nullptr) {
        return;
    }
    std::vector<int32_t> numbers = ReadNumbers(text, settings->devices);
    if (numbers.empty() || !Ascends(numbers)) {
        settings->noDevice = fmt::format(
            "{} is \"{}\"; expected numbers from 0 to {} in ascending order, with commas "
            "between them",
            kVariable, text, settings->devices - 1);
        settings->devices = 0;
        return;
    }
    settings->devices = static_cast<int32_t>(numbers.size());
    settings->visibleDevices = std::move(numbers);
}

}  // namespace advstep
