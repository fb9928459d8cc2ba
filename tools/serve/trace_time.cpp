// SPDX-License-Identifier: Apache-2.0
// Parses the times of traces: dates with fractions and offsets, and numbers of seconds.

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "trace_format.h"

namespace serve {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A number of exactly text.size() digits, at most 18 of them.
std::optional<int64_t> ParseDigits(std::string_view text) {
    int64_t value = 0;
    for (const char c : text) {
        if (!IsDigit(c)) {
            return std::nullopt;
        }
        value = value * 10 + (c - '0');
    }
    return value;
}

bool Matches(std::string_view text, std::string_view pattern) {
    return text.size() == pattern.size() &&
           std::equal(text.begin(), text.end(), pattern.begin(),
                      [](char c, char p) { return p == 'd' ? IsDigit(c) : c == p; });
}

// Seconds of "+hh:mm" or "-hh:mm", or of "Z" or nothing.
std::optional<int64_t> ParseOffset(std::string_view text) {
    if (text.empty() || text == "Z") {
        return 0;
    }
    if (!Matches(text, "+dd:dd") && !Matches(text, "-dd:dd")) {
        return std::nullopt;
    }
    const int64_t hours = *ParseDigits(text.substr(1, 2));
    const int64_t minutes = *ParseDigits(text.substr(4, 2));
    if (hours > 23 || minutes > 59) {
        return std::nullopt;
    }
    return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
}

}  // namespace

std::optional<int64_t> ParseTimestamp(std::string_view text) {
    constexpr std::string_view kPattern = "dddd-dd-dd dd:dd:dd";
    if (!Matches(text.substr(0, kPattern.size()), kPattern)) {
        return std::nullopt;
    }
    const auto field = [&](size_t at, size_t size) { return *ParseDigits(text.substr(at, size)); };
    const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(field(0, 4))),
                                           std::chrono::month(static_cast<unsigned>(field(5, 2))),
                                           std::chrono::day(static_cast<unsigned>(field(8, 2)))};
    const int64_t hour = field(11, 2), minute = field(14, 2), second = field(17, 2);
    if (date.year() < std::chrono::year(1) || !date.ok() || hour > 23 || minute > 59 ||
        second > 59) {
        return std::nullopt;
    }

    int64_t fraction = 0;
    std::string_view rest = text.substr(kPattern.size());
    if (!rest.empty() && rest[0] == '.') {
        constexpr size_t kDigits = 7;
        size_t size = 1;
        while (size < rest.size() && IsDigit(rest[size])) {
            ++size;
        }
        if (size > kDigits + 1) {
            return std::nullopt;
        }
        std::string digits(rest.substr(1, size - 1));
        digits.resize(kDigits, '0');
        fraction = *ParseDigits(digits);
        rest.remove_prefix(size);
    }
    const std::optional<int64_t> offset = ParseOffset(rest);
    if (!offset) {
        return std::nullopt;
    }
    const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    const int64_t seconds = ((days * 24 + hour) * 60 + minute) * 60 + second - *offset;
    return seconds * kTicksPerSecond + fraction;
}

std::optional<int64_t> ParseTicks(std::string_view text, int64_t ticksPerUnit) {
    constexpr int64_t kMostTicks = 1'000'000'000'000'000'000;  // some thousand years
    size_t wholeDigits = 0;
    for (int64_t most = kMostTicks / ticksPerUnit; most > 1; most /= 10) {
        ++wholeDigits;
    }
    const size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view part = point == text.npos ? "" : text.substr(point + 1);
    const bool digits = std::all_of(whole.begin(), whole.end(), IsDigit) &&
                        std::all_of(part.begin(), part.end(), IsDigit);
    if (!digits || whole.empty() || whole.size() > wholeDigits || text.back() == '.') {
        return std::nullopt;
    }
    int64_t ticks = *ParseDigits(whole) * ticksPerUnit;
    for (const char digit : part) {
        ticksPerUnit /= 10;
        ticks += (digit - '0') * ticksPerUnit;
    }
    return ticks;
}

}  // namespace serve
