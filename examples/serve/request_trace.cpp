// SPDX-License-Identifier: Apache-2.0
// Parses the lines of a trace: timestamps, token counts and error messages with line numbers.

#include "request_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string_view>

namespace serve {
namespace {

constexpr std::string_view kHeader = "TIMESTAMP,ContextTokens,GeneratedTokens";
constexpr int64_t kMaxTokens = 1'000'000'000;  // keeps every sum of tokens far from overflow

// Text of a line for a message: short, and nothing in it that a terminal would act on.
std::string Quote(std::string_view text) {
    constexpr size_t kShown = 60;
    std::string quoted = "\"";
    for (const char c : text.substr(0, kShown)) {
        const bool printable = c >= ' ' && c <= '~';
        quoted +=
            printable ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return quoted + (text.size() > kShown ? "...\"" : "\"");
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A number of exactly text.size() digits.
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

int64_t DaysInMonth(int64_t year, int64_t month) {
    constexpr std::array<int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : kDays[static_cast<size_t>(month - 1)];
}

// Days of the Gregorian calendar from 0001-01-01 to the given day.
int64_t DaysBefore(int64_t year, int64_t month, int64_t day) {
    const int64_t past = year - 1;
    int64_t days = past * 365 + past / 4 - past / 100 + past / 400;
    for (int64_t m = 1; m < month; ++m) {
        days += DaysInMonth(year, m);
    }
    return days + day - 1;
}

// Ticks since 0001-01-01 of "YYYY-MM-DD hh:mm:ss[.fffffff]".
std::optional<int64_t> ParseTimestamp(std::string_view text) {
    constexpr std::string_view kPattern = "dddd-dd-dd dd:dd:dd";
    if (text.size() < kPattern.size()) {
        return std::nullopt;
    }
    for (size_t i = 0; i < kPattern.size(); ++i) {
        if (kPattern[i] == 'd' ? !IsDigit(text[i]) : text[i] != kPattern[i]) {
            return std::nullopt;
        }
    }
    const auto field = [&](size_t at, size_t size) { return *ParseDigits(text.substr(at, size)); };
    const int64_t year = field(0, 4), month = field(5, 2), day = field(8, 2);
    const int64_t hour = field(11, 2), minute = field(14, 2), second = field(17, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > DaysInMonth(year, month) ||
        hour > 23 || minute > 59 || second > 59) {
        return std::nullopt;
    }

    int64_t fraction = 0;
    std::string_view rest = text.substr(kPattern.size());
    if (!rest.empty()) {
        if (rest[0] != '.' || rest.size() > 8) {
            return std::nullopt;
        }
        std::string digits(rest.substr(1));
        digits.resize(7, '0');
        const std::optional<int64_t> parsed = ParseDigits(digits);
        if (!parsed) {
            return std::nullopt;
        }
        fraction = *parsed;
    }
    const int64_t seconds =
        ((DaysBefore(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    return seconds * kTicksPerSecond + fraction;
}

class LineParser {
 public:
    LineParser(const std::string& path, int64_t line, std::string_view text)
        : path_(path), line_(line), text_(text) {}

    Request Parse() const {
        const size_t first = text_.find(',');
        const size_t second = first == text_.npos ? first : text_.find(',', first + 1);
        if (second == text_.npos || text_.find(',', second + 1) != text_.npos) {
            Fail(fmt::format("line is {}; expected 3 fields: {}", Quote(text_), kHeader));
        }
        const std::string_view timestamp = text_.substr(0, first);
        const std::optional<int64_t> arrival = ParseTimestamp(timestamp);
        if (!arrival) {
            Fail(
                fmt::format("TIMESTAMP is {}; expected YYYY-MM-DD hh:mm:ss with up to 7 "
                            "fractional digits",
                            Quote(timestamp)));
        }
        return {line_, *arrival,
                Tokens("ContextTokens", text_.substr(first + 1, second - first - 1)),
                Tokens("GeneratedTokens", text_.substr(second + 1))};
    }

    void ExpectHeader() const {
        if (text_ != kHeader) {
            Fail(fmt::format("line is {}; expected the header {}", Quote(text_), kHeader));
        }
    }

 private:
    int64_t Tokens(const char* name, std::string_view text) const {
        constexpr size_t kDigits = 18;  // fit in 64 bits
        const std::optional<int64_t> value =
            text.empty() || text.size() > kDigits ? std::nullopt : ParseDigits(text);
        if (!value || *value < 1 || *value > kMaxTokens) {
            Fail(fmt::format("{} is {}; expected a whole number from 1 to {}", name, Quote(text),
                             kMaxTokens));
        }
        return *value;
    }

    [[noreturn]] void Fail(const std::string& what) const {
        throw TraceError(fmt::format("{}:{}: {}", path_, line_, what));
    }

    const std::string& path_;
    int64_t line_;
    std::string_view text_;
};

void SortByArrival(Trace& trace) {
    int64_t latest = trace.requests.front().arrival;
    for (const Request& request : trace.requests) {
        trace.outOfOrder += request.arrival < latest ? 1 : 0;
        latest = std::max(latest, request.arrival);
    }
    std::stable_sort(trace.requests.begin(), trace.requests.end(),
                     [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
    const int64_t start = trace.requests.front().arrival;
    for (Request& request : trace.requests) {
        request.arrival -= start;
    }
}

}  // namespace

Trace ReadTrace(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw TraceError(fmt::format("{}: cannot be opened", path));
    }
    Trace trace;
    std::string text;
    int64_t line = 0;
    while (std::getline(file, text)) {
        ++line;
        if (!text.empty() && text.back() == '\r') {
            text.pop_back();
        }
        const LineParser parser(path, line, text);
        if (line == 1) {
            parser.ExpectHeader();
        } else {
            trace.requests.push_back(parser.Parse());
        }
    }
    if (file.bad()) {
        throw TraceError(fmt::format("{}: cannot be read", path));
    }
    if (line == 0) {
        throw TraceError(
            fmt::format("{}:1: line is missing; expected the header {}", path, kHeader));
    }
    if (trace.requests.empty()) {
        throw TraceError(fmt::format("{}: has no request below its header", path));
    }
    SortByArrival(trace);
    return trace;
}

}  // namespace serve
