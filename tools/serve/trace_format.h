// SPDX-License-Identifier: Apache-2.0
// The published formats of request traces: each parses a line.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "csv_line.h"
#include "request_trace.h"

namespace serve {

/// What is wrong with a line, without its place.
class LineError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// A request, and what its prompt begins with.
struct TraceLine {
    Request request;
    std::vector<uint64_t> hashIds;  // of its prefixes; nothing: the trace has none
};

class TraceFormat {
 public:
    virtual ~TraceFormat() = default;

    /// Whether the first line names columns and is no request.
    virtual bool HasHeader() const = 0;
    /// The request of a line; nothing: one that failed, without a response.
    /// @throws LineError
    virtual std::optional<TraceLine> Parse(int64_t line, std::string_view text) const = 0;
};

/// The format of a file with this first line.
/// @throws LineError  it is none that is known
std::unique_ptr<TraceFormat> FormatOf(std::string_view firstLine);

/// The fields of a line of CSV. text must outlive them.
/// @param fields  how many the header has
/// @throws LineError
CsvLine DivideLine(std::string_view text, size_t fields, std::string_view header);

/// Text of a line for a message: short, and nothing in it that a terminal would act on.
std::string Quote(std::string_view text);

/// Ticks since 1970-01-01 of "YYYY-MM-DD hh:mm:ss[.fffffff][+hh:mm]"; nothing: it is none.
std::optional<int64_t> ParseTimestamp(std::string_view text);

/// Ticks of a number of units, with an optional fraction; nothing: it is none. Less than a tick is
/// dropped.
/// @param ticksPerUnit  a power of ten
std::optional<int64_t> ParseTicks(std::string_view text, int64_t ticksPerUnit);

}  // namespace serve
