// SPDX-License-Identifier: Apache-2.0
// Loads the trace and hands out its requests in order of arrival.

#include "request_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace serve {
namespace {

void ExpectFits(const Request& request, const Options& options) {
    const std::string subject =
        fmt::format("{}:{}: request of {} + {} tokens", options.trace, request.line,
                    request.promptTokens, request.generatedTokens);
    if (request.TotalTokens() > options.maxLen) {
        throw NeverFits(
            fmt::format("{}; a sequence has at most {} (--max-len)", subject, options.maxLen));
    }
    const int64_t promptBlocks = options.BlocksFor(request.promptTokens);
    if (promptBlocks > options.HostBlocks()) {
        throw NeverFits(fmt::format(
            "{} needs {} blocks of {} for its prompt; the host's allocator has {} of {} (--blocks, "
            "--free-ratio)",
            subject, promptBlocks, options.blockSize, options.HostBlocks(), options.blocks));
    }
    const int64_t dynamicBlocks = DynamicBlocksFor(request, options);
    if (dynamicBlocks > options.DynamicBlocks()) {
        throw NeverFits(fmt::format(
            "{} grows by {} blocks of {}; the device's free list has {} of {} (--blocks, "
            "--free-ratio)",
            subject, dynamicBlocks, options.blockSize, options.DynamicBlocks(), options.blocks));
    }
}

}  // namespace

RequestLimits LimitsOf(const std::vector<Request>& requests, const Options& options) {
    RequestLimits limits;
    for (const Request& request : requests) {
        ExpectFits(request, options);
        limits.longestPrompt = std::max(limits.longestPrompt, request.promptTokens);
        limits.longestGeneration = std::max(limits.longestGeneration, request.generatedTokens);
    }
    return limits;
}

Trace LoadTrace(const Options& options) {
    Trace trace = ReadTrace(options.trace);
    if (trace.outOfOrder > 0) {
        fmt::print(stderr, "serve: {}: out of order at {} places; sorted by arrival\n",
                   options.trace, trace.outOfOrder);
    }
    if (options.limit > 0 && options.limit < static_cast<int64_t>(trace.requests.size())) {
        trace.requests.resize(static_cast<size_t>(options.limit));
    }
    return trace;
}

const Request* TraceSource::Take(int64_t now) {
    const bool arrived = next_ < requests_.size() && requests_[next_].arrival <= now;
    return arrived ? &requests_[next_++] : nullptr;
}

std::optional<int64_t> TraceSource::NextArrival() {
    return next_ < requests_.size() ? std::optional(requests_[next_].arrival) : std::nullopt;
}

}  // namespace serve
