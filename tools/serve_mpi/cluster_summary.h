// SPDX-License-Identifier: Apache-2.0
// The summary of all ranks, as a table and as JSON.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster_options.h"
#include "finished_request.h"
#include "rank_state.h"
#include "report_compare.h"

namespace serve {

struct ClusterResult {
    std::string failure;           // empty: every rank came to its end
    std::vector<RankState> ranks;  // none after a failure but an interrupt of a replay
    std::vector<FinishedRequest> finished;
    std::vector<int64_t> assigned;                 // requests, by replica
    std::vector<std::vector<TimeBucket>> buckets;  // of each replica; as ranks
    TickCounts gaps;                               // from token to token, of all replicas; as ranks
    int64_t requests = 0;                          // of the trace
    int64_t rejected = 0;                          // of the trace, and never served
    int64_t windows = 0;                           // of the dispatcher
    double wallSeconds = 0;
    bool traced = true;  // of a replay: no trace of a device ends early

    /// Of the replica's leader.
    const RankState& Leader(int64_t replica, const ClusterOptions& options) const {
        return ranks[static_cast<size_t>(replica * options.tensorParallel)];
    }
    bool Good() const;
};

/// The statistics of all replicas as one: sums, but for the greatest peaks and times, and latencies
/// over all requests.
Statistics Total(const ClusterOptions& options, const ClusterResult& result);

/// That the run is not over: what the summary's file has if rank 0 is killed.
std::string UnfinishedText(const ClusterOptions& options);
std::string ClusterSummaryText(const ClusterOptions& options, const ClusterResult& result);
/// The page of all replicas together; of a run that has not failed.
/// @param other  or NULL
std::string ClusterReportPage(const ClusterOptions& options, const ClusterResult& result,
                              const OtherRun* other);
void PrintClusterSummary(const ClusterOptions& options, const ClusterResult& result);

}  // namespace serve
