// SPDX-License-Identifier: Apache-2.0
// Reads a trace in its format, as far as it is wanted, and sorts it by arrival.

#include "request_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "csv_line.h"
#include "line_reader.h"
#include "trace_format.h"

namespace serve {
namespace {

// Lines behind those that are wanted, which tell a sorted file from one that is not.
constexpr size_t kLinesAhead = 10'000;

void SortByArrival(Trace& trace) {
    std::stable_sort(trace.requests.begin(), trace.requests.end(),
                     [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
    const int64_t start = trace.requests.front().arrival;
    for (Request& request : trace.requests) {
        request.arrival -= start;
    }
}

// Reads the lines of one file.
class TraceReader {
 public:
    explicit TraceReader(const std::string& path)
        : path_(path == kStandardInput ? "standard input" : path), lines_(path) {}

    Trace Read(size_t limit) {
        std::string_view text;
        if (!Next(&text)) {
            throw TraceError(fmt::format("{}:1: line is missing; the file is empty", path_));
        }
        WithPlace([&] { format_ = FormatOf(text); });
        if (!format_->HasHeader()) {
            Take(text);
        }
        while (!(limit > 0 && trace_.outOfOrder == 0 &&
                 trace_.requests.size() >= limit + kLinesAhead) &&
               Next(&text)) {
            Take(text);
        }
        if (trace_.requests.empty()) {
            throw TraceError(fmt::format("{}: has no request", path_));
        }
        SortByArrival(trace_);
        if (limit > 0 && limit < trace_.requests.size()) {
            trace_.requests.resize(limit);
        }
        return std::move(trace_);
    }

 private:
    // The next line that is not blank.
    bool Next(std::string_view* text) {
        while (lines_.Next(text)) {
            if (!Trim(*text).empty()) {
                return true;
            }
            ++trace_.blank;
        }
        return false;
    }

    template <typename Action>
    void WithPlace(const Action& action) {
        try {
            action();
        } catch (const LineError& error) {
            throw TraceError(fmt::format("{}:{}: {}", path_, lines_.Number(), error.what()));
        }
    }

    void Take(std::string_view text) {
        WithPlace([&] {
            const std::optional<TraceLine> line = format_->Parse(lines_.Number(), text);
            if (!line) {
                ++trace_.failed;
                return;
            }
            const bool isFirst = trace_.requests.empty();
            Request request = line->request;
            trace_.outOfOrder += !isFirst && request.arrival < latest_ ? 1 : 0;
            latest_ = isFirst ? request.arrival : std::max(latest_, request.arrival);
            request.firstPrefix = static_cast<int64_t>(trace_.prefixSeeds.size());
            request.prefixes = static_cast<int64_t>(line->hashIds.size());
            uint64_t seed = 0;
            for (const uint64_t id : line->hashIds) {
                seed = PrefixSeed(seed, id);
                trace_.prefixSeeds.push_back(seed);
            }
            trace_.requests.push_back(request);
        });
    }

    const std::string path_;
    LineReader lines_;
    std::unique_ptr<TraceFormat> format_;
    Trace trace_;
    int64_t latest_ = 0;
};

}  // namespace

Trace ReadTrace(const std::string& path, int64_t limit) {
    return TraceReader(path).Read(static_cast<size_t>(limit));
}

}  // namespace serve
