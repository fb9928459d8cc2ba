// SPDX-License-Identifier: Apache-2.0
// Loads the trace and hands out its requests in order of arrival.

#include "request_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>

#include "standard_streams.h"
#include "trace_generator.h"

namespace serve {
namespace {

// What the requests need at most, by option.
struct Needs {
    int64_t tokens = 0;
    int64_t promptBlocks = 0;
    int64_t dynamicBlocks = 0;
};

// Why a request never fits; empty if it does.
std::string Misfit(const Request& request, const Options& options) {
    if (request.TotalTokens() > options.maxLen) {
        return fmt::format("a sequence has at most {} (--max-len)", options.maxLen);
    }
    const int64_t promptBlocks = options.BlocksFor(request.promptTokens);
    if (promptBlocks > options.HostBlocks()) {
        return fmt::format(
            "it needs {} blocks of {} for its prompt; the host's allocator has {} of {} (--blocks, "
            "--free-ratio)",
            promptBlocks, options.blockSize, options.HostBlocks(), options.blocks);
    }
    const int64_t dynamicBlocks = DynamicBlocksFor(request, options);
    if (dynamicBlocks > options.DynamicBlocks()) {
        return fmt::format(
            "it grows by {} blocks of {}; the device's free list has {} of {} (--blocks, "
            "--free-ratio)",
            dynamicBlocks, options.blockSize, options.DynamicBlocks(), options.blocks);
    }
    return "";
}

// Every prompt is another text.
void ForgetPrefixes(Trace& trace) {
    trace.prefixSeeds = {};
    for (Request& request : trace.requests) {
        request.firstPrefix = request.prefixes = 0;
    }
}

}  // namespace

void KeepFitting(Trace& trace, const Options& options) {
    const auto count = static_cast<int64_t>(trace.requests.size());
    std::string first;
    Needs needs;
    const auto misfits = [&](const Request& request) {
        const std::string why = Misfit(request, options);
        if (why.empty()) {
            return false;
        }
        if (first.empty()) {
            first = fmt::format("{}:{}: request of {} + {} tokens; {}", options.TraceName(),
                                request.line, request.promptTokens, request.generatedTokens, why);
        }
        needs.tokens = std::max(needs.tokens, request.TotalTokens());
        needs.promptBlocks = std::max(needs.promptBlocks, options.BlocksFor(request.promptTokens));
        needs.dynamicBlocks = std::max(needs.dynamicBlocks, DynamicBlocksFor(request, options));
        return true;
    };
    const auto end = std::remove_if(trace.requests.begin(), trace.requests.end(), misfits);
    trace.rejected = trace.requests.end() - end;
    trace.requests.erase(end, trace.requests.end());
    if (trace.rejected == 0) {
        return;
    }
    std::string wanted;
    if (needs.tokens > options.maxLen) {
        wanted += fmt::format("--max-len {}, ", needs.tokens);
    }
    if (needs.promptBlocks > options.HostBlocks()) {
        wanted += fmt::format("{} blocks for prompts, ", needs.promptBlocks);
    }
    if (needs.dynamicBlocks > options.DynamicBlocks()) {
        wanted += fmt::format("{} blocks on the device's free list, ", needs.dynamicBlocks);
    }
    wanted.resize(wanted.size() - 2);
    const std::string told =
        fmt::format("{} of {} requests never fit, the first is {}", trace.rejected, count, first);
    if (!options.reject || trace.requests.empty()) {
        throw NeverFits(fmt::format("{}; all fit with {}; --reject leaves them out", told, wanted));
    }
    Tell(fmt::format("{}; left out (--reject); all fit with {}", told, wanted));
}

RequestLimits LimitsOf(const std::vector<Request>& requests) {
    RequestLimits limits;
    for (const Request& request : requests) {
        limits.longestPrompt = std::max(limits.longestPrompt, request.promptTokens);
        limits.longestGeneration = std::max(limits.longestGeneration, request.generatedTokens);
        limits.mostPrefixes = std::max(limits.mostPrefixes, request.prefixes);
    }
    return limits;
}

Trace ReadRequests(const Options& options) try {
    Trace trace = options.generate.empty() ? ReadTrace(options.trace, options.limit)
                                           : GenerateTrace(ParseGenerator(options.generate));
    if (options.limit > 0 && options.limit < static_cast<int64_t>(trace.requests.size())) {
        trace.requests.resize(static_cast<size_t>(options.limit));
    }
    if (trace.outOfOrder > 0) {
        Tell(fmt::format("{}: out of order at {} places; sorted by arrival", options.TraceName(),
                         trace.outOfOrder));
    }
    if (trace.failed > 0) {
        Tell(fmt::format("{}: {} requests without a prompt or a response are left out",
                         options.TraceName(), trace.failed));
    }
    if (!options.prefixCaching) {
        ForgetPrefixes(trace);
    } else if (trace.prefixSeeds.empty()) {
        Tell(fmt::format("{}: has no hash_ids, so --prefix-caching finds nothing to share",
                         options.TraceName()));
    }
    return trace;
} catch (const std::bad_alloc&) {
    throw std::runtime_error(
        fmt::format("{}: the host has no memory for its requests; {}", options.TraceName(),
                    options.generate.empty() ? "--limit reads fewer" : "expected a smaller count"));
}

Trace LoadTrace(const Options& options) {
    Trace trace = ReadRequests(options);
    KeepFitting(trace, options);
    return trace;
}

const Request* TraceSource::Take(int64_t now) {
    const bool arrived = next_ < requests_.size() && requests_[next_].arrival <= now;
    return arrived ? &requests_[next_++] : nullptr;
}

std::optional<int64_t> TraceSource::NextArrival() {
    return next_ < requests_.size() ? std::optional(requests_[next_].arrival) : std::nullopt;
}

TextSeeds TraceSource::SeedsOf(const Request& request) const {
    TextSeeds seeds{SeedOf(request.line)};
    if (prefixSeeds_ != nullptr && request.prefixes > 0) {
        seeds.sharedTokens = request.SharedTokens();
        seeds.prefixSeeds = prefixSeeds_->data() + request.firstPrefix;
    }
    return seeds;
}

}  // namespace serve
