// SPDX-License-Identifier: Apache-2.0
// Serves the requests of each replica in turn, as an assignment file says.

#include "replay.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <sstream>
#include <string>

#include "assignment.h"
#include "device_session.h"
#include "interrupt.h"
#include "line_reader.h"
#include "server.h"
#include "state_digest.h"

namespace serve {
namespace {

class ReplayObserver : public ServerObserver {
 public:
    ReplayObserver(int64_t replica, std::vector<FinishedRequest>* finished)
        : replica_(replica), finished_(finished) {}

    bool LooksAtSteps() const override { return true; }
    void AfterStep(const StepState& state, Stream& stream) override {
        digest_.Compute(state, stream);
    }
    void Finished(const Sequence& sequence, int64_t /*slot*/) override {
        finished_->push_back(MakeFinished(replica_, sequence));
    }
    uint64_t Digest() const { return digest_.OfRun(); }

 private:
    int64_t replica_;
    std::vector<FinishedRequest>* finished_;
    StateDigest digest_;
};

// As a trace is read: a signal ends the wait for a pipe.
std::string TextOf(const std::string& path) {
    const std::unique_ptr<ByteSource> bytes = OpenBytes(path);
    std::string text;
    std::array<char, 1 << 16> buffer{};
    while (const size_t count = bytes->Read(buffer.data(), buffer.size())) {
        text.append(buffer.data(), count);
    }
    return text;
}

// Serves the requests of a replica and adds what came of it to the result. Returns whether the run
// ended without an error.
bool Serve(int64_t replica, const std::vector<Request>& requests, const RequestLimits& limits,
           const ClusterOptions& options, ClusterResult& result) {
    TraceSource source(requests, limits);
    ReplayObserver observer(replica, &result.finished);
    Server server(source, options.serving, &observer);
    try {
        server.Run();
    } catch (const AclError& error) {
        result.failure = fmt::format("replica {}: {}", replica, error.what());
    } catch (const Stuck& error) {
        result.failure = fmt::format("replica {}: {}", replica, error.what());
    } catch (const std::bad_alloc&) {
        result.failure =
            fmt::format("replica {}: the host has no memory left for the run", replica);
    }
    result.ranks.push_back({server.Result(), {}, observer.Digest()});
    result.ranks.back().statistics.interrupted = Interrupted();
    result.buckets.push_back(server.Record().Buckets());
    result.gaps.Add(server.Record().Latencies().itl.Sorted());
    return result.failure.empty();
}

// A replica whose server was not made, since a signal came before.
void SkipReplica(int64_t requests, ClusterResult& result) {
    result.ranks.emplace_back();
    result.ranks.back().statistics.requests = requests;
    result.ranks.back().statistics.interrupted = true;
    result.buckets.emplace_back();
}

}  // namespace

ClusterResult ReplayAssignment(const ClusterOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    const Trace trace = LoadTrace(options.serving);
    const RequestLimits limits = LimitsOf(trace.requests);
    std::istringstream file(TextOf(options.assignmentIn));
    const Assignment assignment =
        ReadAssignment(file, options.assignmentIn, trace.requests, options.dataParallel);
    ClusterResult result;
    result.requests = static_cast<int64_t>(trace.requests.size());
    result.rejected = trace.rejected;
    for (int64_t replica = 0; replica < options.dataParallel; ++replica) {
        const std::vector<Request> own = RequestsOf(replica, trace.requests, assignment);
        result.assigned.push_back(static_cast<int64_t>(own.size()));
        if (!result.failure.empty()) {
            continue;
        }
        options.ChooseDeviceTrace(replica);
        try {
            const bool ended = Serve(replica, own, limits, options, result);
            result.traced &= !ended || DeviceTraceIsWhole();
        } catch (const InterruptedEarly&) {
            if (replica == 0) {
                throw;
            }
            SkipReplica(result.assigned.back(), result);
        }
    }
    if (!result.failure.empty()) {
        result.ranks.clear();
        result.gaps = TickCounts();
        result.buckets.clear();
    } else if (Interrupted() && static_cast<int64_t>(result.finished.size()) < result.requests) {
        result.failure = "interrupted";
    }
    result.wallSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

}  // namespace serve
