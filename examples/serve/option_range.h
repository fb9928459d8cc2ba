// SPDX-License-Identifier: Apache-2.0
// A range of an option that takes a number.

#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

namespace serve {

/// As CLI::Range, which lets "nan" through.
inline CLI::Validator Between(double least, double most) {
    const std::string range = fmt::format("{} to {}", least, most);
    return {[=](std::string& text) -> std::string {
                double value = 0;
                const bool valid =
                    CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
                return valid ? "" : "Value " + text + " not in range " + range;
            },
            "FLOAT in [" + range + "]"};
}

}  // namespace serve
