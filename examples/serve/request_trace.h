// SPDX-License-Identifier: Apache-2.0
// Reads a request trace: CSV with the header TIMESTAMP,ContextTokens,GeneratedTokens.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace serve {

inline constexpr int64_t kTicksPerSecond = 10'000'000;  // a tick is the 7th fractional digit

struct Request {
    int64_t line;             // in the file, 1-based
    int64_t arrival;          // ticks since the first arrival of the trace
    int64_t promptTokens;     // >= 1
    int64_t generatedTokens;  // >= 1

    int64_t TotalTokens() const { return promptTokens + generatedTokens; }
};

struct Trace {
    std::vector<Request> requests;  // by arrival; lines of the same time stay in file order
    int64_t outOfOrder = 0;         // lines whose time is before that of a line above
};

/// Says where and what: "FILE:LINE: ...".
class TraceError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Lines end in LF or CRLF, the last one optionally in nothing; a timestamp is
/// "YYYY-MM-DD hh:mm:ss" with up to 7 fractional digits.
/// @throws TraceError  the file cannot be read, a line is malformed, or there is no request
Trace ReadTrace(const std::string& path);

}  // namespace serve
