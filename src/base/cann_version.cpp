// SPDX-License-Identifier: Apache-2.0
// Reads versions of CANN packages.
#include "src/base/cann_version.h"

#include <charconv>

namespace advstep {
namespace {

// Reads a number of at most `most` at the front of [*at, end), and moves *at after it. It has at
// most two digits, so that a version fits the arrays of callers.
bool TakeNumber(const char** at, const char* end, int32_t most, int32_t* number) {
    const auto result = std::from_chars(*at, end, *number);
    const bool digits = *at != end && **at >= '0' && **at <= '9';
    if (!digits || result.ec != std::errc() || *number > most || result.ptr - *at > 2) {
        return false;
    }
    *at = result.ptr;
    return true;
}

// Moves *at after `text` if [*at, end) begins with it.
bool TakeText(const char** at, const char* end, const std::string& text) {
    if (static_cast<size_t>(end - *at) < text.size() ||
        text.compare(0, text.size(), *at, text.size()) != 0) {
        return false;
    }
    *at += text.size();
    return true;
}

}  // namespace

std::optional<CannVersion> ParseCannVersion(const std::string& text) {
    constexpr int32_t kMost = 99;         // of each part, so that numbers compare as versions do
    constexpr int32_t kMostOfStage = 99;  // of N in -alpha.N, -beta.N and -rc.N
    const char* at = text.data();
    const char* const end = at + text.size();
    int32_t major = 0;
    int32_t minor = 0;
    int32_t patch = 0;
    if (!TakeNumber(&at, end, kMost, &major) || !TakeText(&at, end, ".") ||
        !TakeNumber(&at, end, kMost, &minor) || !TakeText(&at, end, ".") ||
        !TakeNumber(&at, end, kMost, &patch)) {
        return std::nullopt;
    }
    CannVersion version;
    version.number = major * 10000000 + minor * 100000 + patch * 1000;
    struct Stage {
        const char* text;
        int32_t offset;
    };
    if (at != end) {
        int32_t offset = 0;
        for (const Stage& stage :
             {Stage{"-alpha.", -300}, Stage{"-beta.", -200}, Stage{"-rc.", -100}}) {
            if (offset == 0 && TakeText(&at, end, stage.text)) {
                offset = stage.offset;
            }
        }
        int32_t count = 0;
        if (offset == 0 || !TakeNumber(&at, end, kMostOfStage, &count) || at != end) {
            return std::nullopt;
        }
        version.number += offset + count;
    }
    size_t begin = 0;
    for (std::string& part : version.parts) {
        const size_t dot = &part == &version.parts[3] ? std::string::npos : text.find('.', begin);
        part = text.substr(begin, dot - begin);
        if (dot == std::string::npos) {
            break;
        }
        begin = dot + 1;
    }
    return version;
}

}  // namespace advstep
