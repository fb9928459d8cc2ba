// SPDX-License-Identifier: Apache-2.0
// The dispatcher of serve_mpi before more replicas than there are machines for, in virtual time.
// The replicas are a formula; Dispatcher is the one that serves.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <queue>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "dispatcher.h"
#include "option_range.h"
#include "toy_model.h"
#include "virtual_clock.h"

namespace serve {
namespace {

struct SimulationOptions {
    int64_t replicas = 100'000;
    int64_t requestsPerReplica = 10;
    double ratePerReplica = 0.5;  // requests a second
    double windowSeconds = 0.02;
};

// About the lengths of a conversation trace: 1155 and 211 tokens on average, with long ones.
std::vector<Request> MakeRequests(const SimulationOptions& options) {
    const int64_t count = options.replicas * options.requestsPerReplica;
    const double ticksApart = static_cast<double>(kTicksPerSecond) /
                              (options.ratePerReplica * static_cast<double>(options.replicas));
    std::vector<Request> requests;
    requests.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
        const uint64_t hash = Mix(static_cast<uint64_t>(i));
        const auto below = [&](int shift, int64_t limit) {
            return static_cast<int64_t>((hash >> shift) & 0xFFFF) * limit >> 16;
        };
        const bool isLong = below(0, 10) == 0;
        requests.push_back({i + 2, static_cast<int64_t>(ticksApart * static_cast<double>(i)),
                            1 + (isLong ? 2000 + below(16, 4600) : below(16, 1600)),
                            1 + below(32, 420)});
    }
    return requests;
}

// A replica as a formula: a request keeps its place for its prefill and for one iteration per
// token, each slower by the rows of the others there.
int64_t Duration(const Request& request, int64_t running) {
    return request.promptTokens * kPrefillTokenTicks +
           request.generatedTokens * (kIterationTicks + running * kDecodeRowTicks);
}

struct Outcome {
    int64_t placed = 0;
    int64_t windows = 0;
    int64_t mostInAWindow = 0;
    int64_t finished = 0;
    int64_t mostReports = 0;  // of replicas that had something to tell, in one window
    int64_t peakLoad = 0;     // tokens of the fullest replica at any time
    double meanLoad = 0;      // at the last arrival
    double secondsInDispatcher = 0;
    uint64_t hash = 0;  // of all decisions
};

// Where the decision is made.
enum class Policy { kLeastLoaded, kRoundRobin };

Outcome Simulate(const SimulationOptions& options, const std::vector<Request>& requests,
                 Policy policy) {
    using Clock = std::chrono::steady_clock;
    struct Finish {
        int64_t time;
        int64_t replica;
        int64_t tokens;
        bool operator>(const Finish& other) const { return time > other.time; }
    };
    const auto window = static_cast<int64_t>(options.windowSeconds * kTicksPerSecond);
    Dispatcher dispatcher(requests, options.replicas, window);
    std::priority_queue<Finish, std::vector<Finish>, std::greater<>> finishes;
    std::vector<int64_t> running(static_cast<size_t>(options.replicas));
    std::vector<int64_t> load(static_cast<size_t>(options.replicas));
    std::vector<int64_t> toldIn(static_cast<size_t>(options.replicas), -1);
    Outcome outcome;
    Clock::duration inDispatcher{};
    while (dispatcher.WindowBegin() != kNever) {
        const int64_t begin = dispatcher.WindowBegin();
        std::vector<Finish> told;
        int64_t reports = 0;
        for (; !finishes.empty() && finishes.top().time <= begin; finishes.pop()) {
            const Finish& finish = finishes.top();
            const auto replica = static_cast<size_t>(finish.replica);
            --running[replica];
            load[replica] -= finish.tokens;
            reports += toldIn[replica] != outcome.windows ? 1 : 0;
            toldIn[replica] = outcome.windows;
            told.push_back(finish);
        }
        outcome.mostReports = std::max(outcome.mostReports, reports);
        outcome.finished += static_cast<int64_t>(told.size());

        const Clock::time_point start = Clock::now();
        for (const Finish& finish : told) {
            if (policy == Policy::kLeastLoaded) {
                dispatcher.Finished(finish.replica, finish.time, finish.tokens);
            }
        }
        const std::vector<Placement> placements = dispatcher.PlaceWindow();
        inDispatcher += Clock::now() - start;

        ++outcome.windows;
        outcome.mostInAWindow =
            std::max(outcome.mostInAWindow, static_cast<int64_t>(placements.size()));
        for (const Placement& placement : placements) {
            const int64_t chosen = policy == Policy::kLeastLoaded
                                       ? placement.replica
                                       : outcome.placed % options.replicas;
            const auto replica = static_cast<size_t>(chosen);
            const Request& request = *placement.request;
            load[replica] += request.TotalTokens();
            outcome.peakLoad = std::max(outcome.peakLoad, load[replica]);
            finishes.push({std::max(begin, request.arrival) + Duration(request, running[replica]++),
                           chosen, request.TotalTokens()});
            outcome.hash = Mix(outcome.hash ^ static_cast<uint64_t>(chosen));
            ++outcome.placed;
        }
    }
    for (const int64_t tokens : load) {
        outcome.meanLoad += static_cast<double>(tokens) / static_cast<double>(options.replicas);
    }
    outcome.secondsInDispatcher = std::chrono::duration<double>(inDispatcher).count();
    return outcome;
}

int Main(int argc, char** argv) {
    SimulationOptions options;
    CLI::App app{"Simulates the dispatcher of serve_mpi in virtual time."};
    app.add_option("--replicas", options.replicas)
        ->transform(Whole(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--requests-per-replica", options.requestsPerReplica)
        ->transform(Whole(1, 1000))
        ->capture_default_str();
    app.add_option("--rate", options.ratePerReplica, "requests a second for each replica")
        ->check(Between(0.001, 1000))
        ->capture_default_str();
    app.add_option("--window", options.windowSeconds, "seconds, as serve_mpi's")
        ->check(Between(0.001, 3600))
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);

    const std::vector<Request> requests = MakeRequests(options);
    const Outcome least = Simulate(options, requests, Policy::kLeastLoaded);
    const Outcome inTurn = Simulate(options, requests, Policy::kRoundRobin);
    const double perRequest = 1e9 * least.secondsInDispatcher / static_cast<double>(least.placed);
    fmt::print("replicas {}\nplaced {}\nfinished_before_the_last_window {}\nwindows {}\n",
               options.replicas, least.placed, least.finished, least.windows);
    fmt::print("most_placed_in_a_window {}\nmost_reporting_in_a_window {}\n", least.mostInAWindow,
               least.mostReports);
    fmt::print("peak_load_tokens {}\npeak_load_tokens_round_robin {}\nmean_load_tokens {:.0f}\n",
               least.peakLoad, inTurn.peakLoad, least.meanLoad);
    fmt::print("decisions {:016x}\n", least.hash);
    fmt::print("dispatcher_ns_per_request {:.0f}\nrequests_per_second_of_one_dispatcher {:.0f}\n",
               perRequest, 1e9 / perRequest);
    if (std::fflush(stdout) != 0) {
        throw std::runtime_error("standard output: " + std::generic_category().message(errno));
    }
    return EXIT_SUCCESS;
}

}  // namespace
}  // namespace serve

int main(int argc, char** argv) {
    try {
        return serve::Main(argc, argv);
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "dispatch_simulation: the host has no memory for so many requests\n");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "dispatch_simulation: %s\n", error.what());
    }
    return EXIT_FAILURE;
}
