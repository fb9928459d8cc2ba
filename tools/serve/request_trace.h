// SPDX-License-Identifier: Apache-2.0
// Reads a request trace in one of the published formats, plain or compressed.

#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "toy_model.h"

namespace serve {

inline constexpr int64_t kTicksPerSecond = 10'000'000;  // a tick is the 7th fractional digit

struct Request {
    int64_t line;             // in the file, 1-based
    int64_t arrival;          // ticks since the first arrival of the trace
    int64_t promptTokens;     // >= 1
    int64_t generatedTokens;  // >= 1
    // Ids of the prompt's prefixes, in Trace::prefixSeeds.
    int64_t firstPrefix = 0;
    int64_t prefixes = 0;

    int64_t TotalTokens() const { return promptTokens + generatedTokens; }
    /// K and V of the last token are never computed.
    int64_t CachedTokens() const { return TotalTokens() - 1; }
    /// Tokens of the prompt, from its begin, that the ids cover.
    int64_t SharedTokens() const { return std::min(promptTokens, prefixes * kPrefixTokens); }
};

struct Trace {
    std::vector<Request> requests;      // by arrival; lines of the same time stay in file order
    std::vector<uint64_t> prefixSeeds;  // of hash_ids: equal for prompts that begin alike
    int64_t outOfOrder = 0;             // lines whose time is before that of a line above
    int64_t failed = 0;                 // lines of requests without a prompt or a response
    int64_t blank = 0;                  // lines with nothing but spaces
    int64_t rejected = 0;               // requests that never fit, and were left out
};

/// Says where and what: "FILE:LINE: ...".
class TraceError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Recognises the format by the file's content: CSV of the Azure Public Dataset with the header
/// TIMESTAMP,ContextTokens,GeneratedTokens; CSV of BurstGPT; JSON lines of Mooncake; each also
/// compressed by gzip or zstd. Lines end in LF or CRLF, the last one optionally in nothing; blank
/// ones are skipped. A header has its columns in any order and among others.
/// @param limit  the first so many requests by arrival; 0: all. Where the lines are in order of
///               arrival up to 10000 lines after the last of these, no more is read.
/// @throws TraceError  the file cannot be read, a line is malformed, or there is no request
/// @throws InterruptedEarly
Trace ReadTrace(const std::string& path, int64_t limit = 0);

}  // namespace serve
