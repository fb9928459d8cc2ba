// SPDX-License-Identifier: Apache-2.0
// Checks of the values of options: ranges of numbers, and texts that may not be empty.

#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "decimal.h"

namespace serve {

/// For Option::check. As CLI::Range, which lets "nan" and hexadecimal numbers through.
inline CLI::Validator Between(double least, double most) {
    const std::string range = fmt::format("{} to {}", least, most);
    return {[=](std::string& text) -> std::string {
                const std::optional<double> value = DecimalOf<double>(text);
                const bool valid = value && *value >= least && *value <= most;
                return valid ? "" : "Value " + text + " not in range " + range;
            },
            "FLOAT in [" + range + "]"};
}

/// For Option::transform, since CLI11 would read 010 as 8: what it reads is the number in its
/// shortest form. The number must also fit the option's variable.
inline CLI::Validator Whole(int64_t least, int64_t most = std::numeric_limits<int64_t>::max()) {
    const std::string range = fmt::format("{} to {}", least, most);
    return {[=](std::string& text) -> std::string {
                const std::optional<int64_t> value = DecimalOf<int64_t>(text);
                if (!value || *value < least || *value > most) {
                    return "Value " + text + " not in range " + range;
                }
                text = fmt::format("{}", *value);
                return "";
            },
            fmt::format("INT in [{} - {}]", least, most)};
}

/// For Option::check. A script gives an empty text if its variable was never set.
/// @param expected  the noun of the message: "the path of a file"
inline std::function<std::string(const std::string&)> NotEmpty(const char* expected) {
    return [expected](const std::string& text) {
        return text.empty() ? fmt::format("expected {}", expected) : "";
    };
}

}  // namespace serve
