// SPDX-License-Identifier: Apache-2.0
// The result of a request, in a form that can be sent and compared.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler.h"

namespace serve {

/// Times are ticks of virtual time since the trace's first arrival.
struct FinishedRequest {
    int64_t line;
    int64_t replica;
    int64_t promptTokens;
    int64_t generatedTokens;
    int64_t arrival;
    int64_t admitted;
    int64_t firstToken;
    int64_t lastToken;
    uint64_t textHash;  // of all generated tokens

    int64_t TotalTokens() const { return promptTokens + generatedTokens; }
};

FinishedRequest MakeFinished(int64_t replica, const Sequence& sequence);

/// CSV, a line for each request, by their line in the trace.
std::string FinishedText(std::vector<FinishedRequest> requests);

}  // namespace serve
