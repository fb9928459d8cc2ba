// SPDX-License-Identifier: Apache-2.0
// Implements the formats of the Azure Public Dataset, of BurstGPT and of Mooncake.

#include "trace_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "json_scalar.h"

namespace serve {
namespace {

constexpr int64_t kMaxTokens = 1'000'000'000;  // keeps every sum of tokens far from overflow
constexpr std::string_view kAzureHeader = "TIMESTAMP,ContextTokens,GeneratedTokens";
constexpr const char* kBurstHeader =
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type";
constexpr const char* kMooncakeLine =
    R"({"timestamp": ms, "input_length": ..., "output_length": ...})";

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

// The three columns of a request, found by the names that the header has.
struct CsvNames {
    const char* time;
    const char* prompt;
    const char* generated;
};
constexpr CsvNames kAzureNames = {"TIMESTAMP", "ContextTokens", "GeneratedTokens"};
constexpr CsvNames kBurstNames = {"Timestamp", "Request tokens", "Response tokens"};

class CsvFormat : public TraceFormat {
 public:
    /// All three names must be in the header.
    CsvFormat(std::string_view header, const CsvNames& names) : header_(header), names_(names) {
        const CsvLine columns(header_);
        size_ = columns.Size();
        time_ = columns.Find(names.time).value();
        prompt_ = columns.Find(names.prompt).value();
        generated_ = columns.Find(names.generated).value();
    }

    bool HasHeader() const override { return true; }

    static bool Fits(const CsvLine& header, const CsvNames& names) {
        return header.Valid() && header.Find(names.time) && header.Find(names.prompt) &&
               header.Find(names.generated);
    }

 protected:
    /// Throws unless the line has a field for each column.
    CsvLine Divide(std::string_view text) const { return DivideLine(text, size_, header_); }
    int64_t Prompt(const CsvLine& line, int64_t least) const {
        return ParseTokens(names_.prompt, line[prompt_], least);
    }
    int64_t Generated(const CsvLine& line, int64_t least) const {
        return ParseTokens(names_.generated, line[generated_], least);
    }
    std::string_view Time(const CsvLine& line) const { return line[time_]; }

 private:
    std::string header_;
    CsvNames names_;
    size_t size_ = 0;
    size_t time_ = 0;
    size_t prompt_ = 0;
    size_t generated_ = 0;
};

class AzureFormat : public CsvFormat {
 public:
    explicit AzureFormat(std::string_view header) : CsvFormat(header, kAzureNames) {}

    std::optional<TraceLine> Parse(int64_t line, std::string_view text) const override {
        const CsvLine fields = Divide(text);
        const std::optional<int64_t> arrival = ParseTimestamp(Time(fields));
        if (!arrival) {
            Fail(
                fmt::format("TIMESTAMP is {}; expected YYYY-MM-DD hh:mm:ss with up to 7 "
                            "fractional digits and an optional offset as +00:00",
                            Quote(Time(fields))));
        }
        return TraceLine{{line, *arrival, Prompt(fields, 1), Generated(fields, 1)}, {}};
    }
};

class BurstFormat : public CsvFormat {
 public:
    explicit BurstFormat(std::string_view header) : CsvFormat(header, kBurstNames) {}

    std::optional<TraceLine> Parse(int64_t line, std::string_view text) const override {
        const CsvLine fields = Divide(text);
        const std::optional<int64_t> arrival = ParseTicks(Time(fields), kTicksPerSecond);
        if (!arrival) {
            Fail(fmt::format("Timestamp is {}; expected a number of seconds", Quote(Time(fields))));
        }
        const int64_t prompt = Prompt(fields, 0);
        const int64_t generated = Generated(fields, 0);
        if (prompt == 0 || generated == 0) {
            return std::nullopt;
        }
        return TraceLine{{line, *arrival, prompt, generated}, {}};
    }
};

// The ids of a prompt's prefixes, of which a line may have fewer than its prompt's tokens allow.
std::vector<uint64_t> HashIds(const nlohmann::json& line, int64_t promptTokens) {
    const auto found = line.find("hash_ids");
    if (found == line.end()) {
        return {};
    }
    const auto isId = [](const nlohmann::json& id) { return id.is_number_unsigned(); };
    if (!found->is_array() || !std::all_of(found->begin(), found->end(), isId)) {
        Fail(fmt::format(
            "hash_ids is {}; expected a list of whole numbers",
            Quote(found->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace))));
    }
    const auto most = static_cast<size_t>((promptTokens + kPrefixTokens - 1) / kPrefixTokens);
    if (found->size() > most) {
        Fail(
            fmt::format("hash_ids has {} ids; expected at most {}, one for each {} of the {} "
                        "tokens of input_length",
                        found->size(), most, kPrefixTokens, promptTokens));
    }
    return found->get<std::vector<uint64_t>>();
}

class MooncakeFormat : public TraceFormat {
 public:
    bool HasHeader() const override { return false; }

    std::optional<TraceLine> Parse(int64_t line, std::string_view text) const override {
        const auto json = nlohmann::json::parse(text, nullptr, false);
        if (!json.is_object()) {
            Fail(fmt::format("line is {}; expected a JSON object: {}", Quote(text), kMooncakeLine));
        }
        // As text, which is read as those of the other formats are.
        const auto field = [&](const char* name) {
            const auto found = json.find(name);
            return found == json.end() ? std::string("nothing") : ScalarText(*found);
        };
        constexpr int64_t kTicksPerMs = kTicksPerSecond / 1000;
        const auto time = json.find("timestamp");
        // Less than a tick, the text of which may have an exponent.
        const bool isTiny = time != json.end() && time->is_number_float() &&
                            time->get<double>() >= 0 && time->get<double>() * kTicksPerMs < 1;
        const std::optional<int64_t> arrival =
            isTiny ? 0 : ParseTicks(field("timestamp"), kTicksPerMs);
        if (!arrival) {
            Fail(fmt::format("timestamp is {}; expected a number of milliseconds",
                             Quote(field("timestamp"))));
        }
        const int64_t prompt = ParseTokens("input_length", field("input_length"), 0);
        const int64_t generated = ParseTokens("output_length", field("output_length"), 0);
        if (prompt == 0 || generated == 0) {
            return std::nullopt;
        }
        return TraceLine{{line, *arrival, prompt, generated}, HashIds(json, prompt)};
    }
};

}  // namespace

CsvLine DivideLine(std::string_view text, size_t fields, std::string_view header) {
    CsvLine line(text);
    if (!line.Valid()) {
        Fail(
            fmt::format("line is {}; expected a quotation mark at the end of each field that "
                        "begins with one",
                        Quote(text)));
    }
    if (line.Size() != fields) {
        Fail(fmt::format("line is {}; expected {} fields, as the header {}", Quote(text), fields,
                         Quote(header)));
    }
    return line;
}

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
    const CsvLine names(firstLine);
    if (CsvFormat::Fits(names, kAzureNames)) {
        return std::make_unique<AzureFormat>(firstLine);
    }
    if (CsvFormat::Fits(names, kBurstNames)) {
        return std::make_unique<BurstFormat>(firstLine);
    }
    if (Trim(firstLine).substr(0, 1) == "{") {
        return std::make_unique<MooncakeFormat>();
    }
    Fail(
        fmt::format("line is {}; expected the header {} (Azure) or {} (BurstGPT), or {} (Mooncake)",
                    Quote(firstLine), kAzureHeader, kBurstHeader, kMooncakeLine));
}

}  // namespace serve
