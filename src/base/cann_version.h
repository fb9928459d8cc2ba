// SPDX-License-Identifier: Apache-2.0
// The version of the CANN packages that the library stands in for.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace advstep {

/// A version MAJOR.MINOR.PATCH, or one with -alpha.N, -beta.N or -rc.N after it.
struct CannVersion {
    std::string parts[4];  // the text between the dots; the last part is all after a third dot
    int32_t number = 0;    // for comparisons: 9.2.0 is 90200000
};

/// Reads a version. Returns no value if the text is no such version.
std::optional<CannVersion> ParseCannVersion(const std::string& text);

}  // namespace advstep
