// SPDX-License-Identifier: Apache-2.0
// Implements the run of rank 0, which dispatches, and of the other ranks, which serve.

#include "mpi_cluster.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "cluster_progress.h"
#include "cluster_summary.h"
#include "device_session.h"
#include "interrupt.h"
#include "mpi_compare.h"
#include "mpi_exchange.h"
#include "output_file.h"
#include "server.h"
#include "standard_streams.h"

namespace serve {
namespace {

constexpr const char* kWhatOthersSay = "the end of the others";

// What a rank has to tell at its end.
struct RankResult {
    RankState state;
    std::vector<FinishedRequest> untold;
    std::vector<TickCount> gaps;
    std::vector<TimeBucket> buckets;
};

// Serves until no more is granted.
RankResult ServeGranted(Link& link, const ClusterOptions& options, const RequestLimits& limits,
                        TimedExchange& exchange) {
    const auto start = std::chrono::steady_clock::now();
    GrantedSource source(exchange, limits);
    GroupObserver observer(link, source, options);
    Server server(source, options.serving, &observer);
    server.Run();
    RankState state{server.Result(), observer.Cost(), observer.Digest()};
    state.statistics.wallSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    state.cost.dispatchSeconds = exchange.Seconds();
    return {state, source.Untold(), server.Record().Latencies().itl.Sorted(),
            server.Record().Buckets()};
}

// What rank 0 knows, whatever becomes of the run.
class FirstRank {
 public:
    FirstRank(Link& link, const ClusterOptions& options)
        : link_(link), options_(options), start_(std::chrono::steady_clock::now()) {}

    void Run() {
        options_.ExpectDistinctFiles();
        OpenSummary();
        OpenIfNamed(assignment_, options_.assignmentOut, "the assignment");
        OpenIfNamed(requests_, options_.serving.requests, "the requests");
        OpenIfNamed(report_, options_.serving.report, "the report");
        if (!options_.serving.compare.empty()) {
            other_ = ReadReport(options_.serving.compare);
        }
        trace_ = LoadTrace(options_.serving);
        const RequestLimits limits = LimitsOf(trace_.requests);
        result_.requests = static_cast<int64_t>(trace_.requests.size());
        result_.rejected = trace_.rejected;
        progress_.emplace(result_.requests, options_.dataParallel, options_.progress);
        for (int rank = 1; rank < link_.Layout().Ranks(); ++rank) {
            link_.Send(rank, Link::kGrant, Packer().Put(limits).Take());
        }
        exchange_.emplace(link_, trace_.requests, options_.WindowTicks(),
                          [this](int64_t finished) { progress_->Update(finished); });
        const RankResult own = ServeGranted(link_, options_, limits, *exchange_);
        result_.ranks.push_back(own.state);
        exchange_->Take(own.untold);
        result_.gaps.Add(own.gaps);
        result_.buckets.push_back(own.buckets);
        for (int rank = 1; rank < link_.Layout().Ranks(); ++rank) {
            const Bytes bytes = link_.Receive(rank, Link::kFinal, kWhatOthersSay);
            Unpacker unpacker(bytes);
            result_.ranks.push_back(unpacker.Get<RankState>());
            exchange_->Take(unpacker.GetVector<FinishedRequest>());
            result_.gaps.Add(unpacker.GetVector<TickCount>());
            std::vector<TimeBucket> buckets = unpacker.GetVector<TimeBucket>();
            if (!buckets.empty()) {  // of a leader
                result_.buckets.push_back(std::move(buckets));
            }
        }
        for (int rank = 1; rank < link_.Layout().Ranks(); ++rank) {
            link_.Send(rank, Link::kServed, {});
        }
        link_.Flush();
    }

    int Finish() {
        const bool written = Report();
        const bool traced = DeviceTraceIsWhole();
        const int status = result_.Good() && written && traced ? EXIT_SUCCESS : EXIT_FAILURE;
        for (int rank = 1; rank < link_.Layout().Ranks(); ++rank) {
            link_.Send(rank, Link::kEnd, Packer().Put(status).Take());
        }
        link_.Flush();
        return status;
    }

    [[noreturn]] void Fail(const std::string& why) {
        if (progress_) {
            progress_->Clear();
        }
        Tell(why);
        if (!reported_) {
            result_.failure = why;
            result_.ranks.clear();
            result_.gaps = TickCounts();
            result_.buckets.clear();
            try {
                Report();
            } catch (const std::exception& error) {
                Tell(error.what());
            }
        }
        assignment_.reset();  // MPI_Abort ends the process without destructors, which unlink
        report_.reset();
        requests_.reset();
        summary_.reset();
        std::fflush(nullptr);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        std::abort();  // MPI_Abort does not return
    }

 private:
    void OpenSummary() {
        OpenIfNamed(summary_, options_.serving.summary, "the summary");
        try {
            if (summary_) {
                summary_->WriteUntilThen(UnfinishedText(options_));
            }
        } catch (...) {
            summary_.reset();  // there is no place to say that the run has failed
            throw;
        }
    }

    // Once. Returns whether all of it could be written; what could not is told.
    bool Report() {
        reported_ = true;
        if (progress_) {
            progress_->Clear();
        }
        result_.assigned.assign(static_cast<size_t>(options_.dataParallel), 0);
        if (exchange_) {
            result_.finished = exchange_->AllFinished();
            result_.windows = exchange_->Windows();
            for (const int64_t replica : exchange_->Placed()) {
                if (replica >= 0) {
                    ++result_.assigned[static_cast<size_t>(replica)];
                }
            }
        }
        result_.wallSeconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        bool written = Written(
            summary_, [this] { return ClusterSummaryText(options_, result_); }, "--summary");
        written &= Written(
            requests_, [this] { return FinishedText(result_.finished); }, "--requests");
        if (result_.failure.empty()) {
            written &= Written(
                assignment_,
                [this] { return AssignmentText(trace_.requests, exchange_->Placed()); },
                "--assignment-out");
            written &= Written(
                report_,
                [this] {
                    return ClusterReportPage(options_, result_, other_ ? &*other_ : nullptr);
                },
                "--report");
        }
        try {
            PrintClusterSummary(options_, result_);
            FlushStandardOutput();
        } catch (const std::exception& error) {
            Tell(error.what());
            return false;
        }
        return written;
    }

    Link& link_;
    const ClusterOptions& options_;
    std::chrono::steady_clock::time_point start_;
    Trace trace_;
    ClusterResult result_;
    std::optional<OutputFile> summary_;
    std::optional<OutputFile> assignment_;
    std::optional<OutputFile> requests_;
    std::optional<OutputFile> report_;
    std::optional<OtherRun> other_;
    std::optional<ClusterProgress> progress_;
    std::optional<DispatchingExchange> exchange_;
    bool reported_ = false;
};

}  // namespace

int RunFirstRank(Link& link, const ClusterOptions& options) {
    FirstRank first(link, options);
    try {
        try {
            first.Run();
        } catch (const InterruptedEarly&) {
            link.EndTerminated();
        }
        return first.Finish();
    } catch (const ClusterError& error) {
        first.Fail(error.what());
    } catch (const std::exception& error) {
        first.Fail(fmt::format("{}: {}", link.Layout().Name(0), error.what()));
    }
}

int RunOtherRank(Link& link, const ClusterOptions& options) {
    try {
        // Rank 0 opens the files and reads the trace before, which may be pipes.
        const Bytes first = link.Receive(0, Link::kGrant, "the limits of the requests", false);
        const auto limits = Unpacker(first).Get<RequestLimits>();
        const std::unique_ptr<TimedExchange> exchange = MakeExchange(link);
        RankResult own = ServeGranted(link, options, limits, *exchange);
        const bool traced = DeviceTraceIsWhole();
        if (link.Rank() != link.GroupRanks().front()) {
            own.untold.clear();  // its leader tells
            own.gaps.clear();
            own.buckets.clear();
        }
        link.Send(0, Link::kFinal,
                  Packer().Put(own.state).Put(own.untold).Put(own.gaps).Put(own.buckets).Take());
        link.Receive(0, Link::kServed, kWhatOthersSay);
        // Rank 0 writes the files, which may be pipes.
        const Bytes end = link.Receive(0, Link::kEnd, "the files", false);
        return traced ? Unpacker(end).Get<int>() : EXIT_FAILURE;
    } catch (const InterruptedEarly&) {
        link.EndTerminated();
    } catch (const ClusterError& error) {
        link.Fail(error.what());
    } catch (const std::exception& error) {
        link.Fail(fmt::format("{}: {}", link.Layout().Name(link.Rank()), error.what()));
    }
}

}  // namespace serve
