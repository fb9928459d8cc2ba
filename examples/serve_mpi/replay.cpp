// SPDX-License-Identifier: Apache-2.0
// Serves the requests of each replica in turn, as an assignment file says.

#include "replay.h"

#include <chrono>

#include "assignment.h"
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

}  // namespace

ClusterResult ReplayAssignment(const ClusterOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    const Trace trace = LoadTrace(options.serving);
    const RequestLimits limits = LimitsOf(trace.requests);
    const Assignment assignment =
        ReadAssignment(options.assignmentIn, trace.requests, options.dataParallel);
    ClusterResult result;
    result.requests = static_cast<int64_t>(trace.requests.size());
    result.rejected = trace.rejected;
    for (int64_t replica = 0; replica < options.dataParallel; ++replica) {
        const std::vector<Request> own = RequestsOf(replica, trace.requests, assignment);
        TraceSource source(own, limits);
        ReplayObserver observer(replica, &result.finished);
        Server server(source, options.serving, &observer);
        server.Run();
        result.assigned.push_back(source.Requests());
        result.ranks.push_back({server.Result(), {}, observer.Digest()});
        result.buckets.push_back(server.Record().Buckets());
        result.gaps.Add(server.Record().Latencies().itl.Sorted());
    }
    result.wallSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

}  // namespace serve
