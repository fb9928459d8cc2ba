// SPDX-License-Identifier: Apache-2.0
// The source of a server's requests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "request_trace.h"
#include "serve_options.h"

namespace serve {

/// Requests that no admission could ever take.
class NeverFits : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Blocks that its generated tokens need besides those of its prompt.
inline int64_t DynamicBlocksFor(const Request& request, const Options& options) {
    return options.BlocksFor(request.CachedTokens()) - options.BlocksFor(request.promptTokens);
}

/// What a server must know of all its requests before the first: it decides the size of tensors.
struct RequestLimits {
    int64_t longestPrompt = 0;
    int64_t longestGeneration = 0;
    int64_t mostPrefixes = 0;  // of a prompt
};

RequestLimits LimitsOf(const std::vector<Request>& requests);

/// Gives each request once, by arrival.
class RequestSource {
 public:
    virtual ~RequestSource() = default;

    virtual const RequestLimits& Limits() const = 0;
    /// Requests that the source has had so far or knows of.
    virtual int64_t Requests() const = 0;
    /// The next request that has arrived by now; NULL: there is none. Lives as long as the source.
    virtual const Request* Take(int64_t now) = 0;
    /// When the next request arrives; nothing: none ever will.
    virtual std::optional<int64_t> NextArrival() = 0;
    /// Decides the text of one of its requests.
    virtual TextSeeds SeedsOf(const Request& request) const { return {SeedOf(request.line)}; }
};

/// Reads the trace that the options name; says on standard error if it had to be sorted.
/// @throws TraceError, InterruptedEarly
Trace ReadRequests(const Options& options);

/// Leaves out the requests that never fit, and says so on standard error.
/// @throws NeverFits  as LoadTrace
void KeepFitting(Trace& trace, const Options& options);

/// Reads the trace that the options name, of which every request fits; says on standard error if it
/// had to be sorted, and what --reject has left out.
/// @throws TraceError, InterruptedEarly
/// @throws NeverFits  without --reject: counts those that need more than there is, and names the
///                    first one and the option that would do for all
Trace LoadTrace(const Options& options);

/// Requests that are all known from the start.
class TraceSource : public RequestSource {
 public:
    /// @param requests  must outlive the source
    /// @param limits       of these requests and perhaps of others, served elsewhere
    /// @param prefixSeeds  of their trace, and must outlive the source; nothing: none have prefixes
    TraceSource(const std::vector<Request>& requests, const RequestLimits& limits,
                const std::vector<uint64_t>* prefixSeeds = nullptr)
        : requests_(requests), limits_(limits), prefixSeeds_(prefixSeeds) {}

    const RequestLimits& Limits() const override { return limits_; }
    int64_t Requests() const override { return static_cast<int64_t>(requests_.size()); }
    const Request* Take(int64_t now) override;
    std::optional<int64_t> NextArrival() override;
    TextSeeds SeedsOf(const Request& request) const override;

 private:
    const std::vector<Request>& requests_;
    RequestLimits limits_;
    const std::vector<uint64_t>* prefixSeeds_;
    size_t next_ = 0;
};

}  // namespace serve
