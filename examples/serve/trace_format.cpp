// SPDX-License-Identifier: Apache-2.0
// Implements the formats of the Azure Public Dataset, of BurstGPT and of Mooncake.

#include "trace_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace serve {
namespace {

constexpr int64_t kMaxTokens = 1'000'000'000;  // keeps every sum of tokens far from overflow
constexpr std::string_view kAzureHeader = "TIMESTAMP,ContextTokens,GeneratedTokens";
constexpr const char* kBurstHeader =
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type";
constexpr const char* kMooncakeLine =
    R"({"timestamp": ms, "input_length": ..., "output_length": ...})";

std::vector<std::string_view> Fields(std::string_view text) {
    std::vector<std::string_view> fields;
    for (;;) {
        const size_t comma = text.find(',');
        fields.push_back(text.substr(0, comma));
        if (comma == text.npos) {
            return fields;
        }
        text.remove_prefix(comma + 1);
    }
}

[[noreturn]] void Fail(const std::string& what) { throw LineError(what); }

int64_t ParseTokens(std::string_view name, std::string_view text, int64_t least) {
    constexpr size_t kDigits = 18;  // fit in 64 bits
    int64_t value = 0;
    bool valid = !text.empty() && text.size() <= kDigits;
    for (const char c : text) {
        valid = valid && c >= '0' && c <= '9';
        value = valid ? value * 10 + (c - '0') : -1;
    }
    if (!valid || value < least || value > kMaxTokens) {
        Fail(fmt::format("{} is {}; expected a whole number from {} to {}", name, Quote(text),
                         least, kMaxTokens));
    }
    return value;
}

class AzureFormat : public TraceFormat {
 public:
    bool HasHeader() const override { return true; }

    std::optional<Request> Parse(int64_t line, std::string_view text) const override {
        const size_t first = text.find(',');
        const size_t second = first == text.npos ? first : text.find(',', first + 1);
        if (second == text.npos || text.find(',', second + 1) != text.npos) {
            Fail(fmt::format("line is {}; expected 3 fields: {}", Quote(text), kAzureHeader));
        }
        const std::string_view timestamp = text.substr(0, first);
        const std::optional<int64_t> arrival = ParseTimestamp(timestamp);
        if (!arrival) {
            Fail(
                fmt::format("TIMESTAMP is {}; expected YYYY-MM-DD hh:mm:ss with up to 7 "
                            "fractional digits and an optional offset as +00:00",
                            Quote(timestamp)));
        }
        return Request{line, *arrival,
                       ParseTokens("ContextTokens", text.substr(first + 1, second - first - 1), 1),
                       ParseTokens("GeneratedTokens", text.substr(second + 1), 1)};
    }
};

class BurstFormat : public TraceFormat {
 public:
    BurstFormat(std::string_view header, size_t columns)
        : header_(header),
          columns_(columns),
          timestamp_(Column("Timestamp")),
          request_(Column("Request tokens")),
          response_(Column("Response tokens")) {}

    bool HasHeader() const override { return true; }

    std::optional<Request> Parse(int64_t line, std::string_view text) const override {
        const std::vector<std::string_view> fields = Fields(text);
        if (fields.size() != columns_) {
            Fail(fmt::format("line is {}; expected {} fields, as the header {}", Quote(text),
                             columns_, Quote(header_)));
        }
        const std::optional<int64_t> arrival = ParseTicks(fields[timestamp_], kTicksPerSecond);
        if (!arrival) {
            Fail(fmt::format("Timestamp is {}; expected a number of seconds",
                             Quote(fields[timestamp_])));
        }
        const int64_t prompt = ParseTokens("Request tokens", fields[request_], 0);
        const int64_t generated = ParseTokens("Response tokens", fields[response_], 0);
        if (prompt == 0 || generated == 0) {
            return std::nullopt;
        }
        return Request{line, *arrival, prompt, generated};
    }

 private:
    size_t Column(std::string_view name) const {
        const std::vector<std::string_view> names = Fields(header_);
        return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    }

    std::string header_;
    size_t columns_;
    size_t timestamp_;
    size_t request_;
    size_t response_;
};

class MooncakeFormat : public TraceFormat {
 public:
    bool HasHeader() const override { return false; }

    std::optional<Request> Parse(int64_t line, std::string_view text) const override {
        const auto json = nlohmann::json::parse(text, nullptr, false);
        if (!json.is_object()) {
            Fail(fmt::format("line is {}; expected a JSON object: {}", Quote(text), kMooncakeLine));
        }
        // As text, which is read as those of the other formats are.
        const auto field = [&](const char* name) {
            const auto found = json.find(name);
            return found == json.end() ? std::string("nothing") : found->dump(-1, ' ', true);
        };
        const std::optional<int64_t> arrival =
            ParseTicks(field("timestamp"), kTicksPerSecond / 1000);
        if (!arrival) {
            Fail(fmt::format("timestamp is {}; expected a number of milliseconds",
                             Quote(field("timestamp"))));
        }
        const int64_t prompt = ParseTokens("input_length", field("input_length"), 0);
        const int64_t generated = ParseTokens("output_length", field("output_length"), 0);
        if (prompt == 0 || generated == 0) {
            return std::nullopt;
        }
        return Request{line, *arrival, prompt, generated};
    }
};

}  // namespace

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

std::unique_ptr<TraceFormat> FormatOf(std::string_view firstLine) {
    if (firstLine == kAzureHeader) {
        return std::make_unique<AzureFormat>();
    }
    const std::vector<std::string_view> names = Fields(firstLine);
    const auto has = [&](std::string_view name) {
        return std::count(names.begin(), names.end(), name) == 1;
    };
    if (has("Timestamp") && has("Request tokens") && has("Response tokens")) {
        return std::make_unique<BurstFormat>(firstLine, names.size());
    }
    if (!firstLine.empty() && firstLine[0] == '{') {
        return std::make_unique<MooncakeFormat>();
    }
    Fail(
        fmt::format("line is {}; expected the header {} (Azure) or {} (BurstGPT), or {} (Mooncake)",
                    Quote(firstLine), kAzureHeader, kBurstHeader, kMooncakeLine));
}

}  // namespace serve
