// SPDX-License-Identifier: Apache-2.0
// Thousands separators, for numbers that people read.

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace serve {

/// "-1234567.125" becomes "-1,234,567.125".
inline std::string Grouped(std::string number) {
    const size_t first = !number.empty() && number[0] == '-' ? 1 : 0;
    for (size_t at = std::min(number.find('.'), number.size()); at > first + 3;) {
        at -= 3;
        number.insert(at, ",");
    }
    return number;
}

}  // namespace serve
