// SPDX-License-Identifier: Apache-2.0
// Numbers as people write them.

#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace serve {

/// The number that is all of a text: decimal, without spaces and without a plus sign in front, in
/// the case of a double also with an exponent; nothing: it is none, or Number does not hold it.
/// strtoll and strtod, which CLI11 calls, would read 010 as 8, and take 0x10 and spaces.
template <typename Number>
std::optional<Number> DecimalOf(std::string_view text) {
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

}  // namespace serve
