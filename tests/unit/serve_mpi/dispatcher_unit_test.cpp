// SPDX-License-Identifier: Apache-2.0
// Tests of the dispatcher: least load, windows, order of reports.

#include "serve_mpi/dispatcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "serve_mpi/least_loaded.h"

namespace serve {
namespace {

// Requests of `tokens` tokens that arrive at these times.
std::vector<Request> At(const std::vector<int64_t>& arrivals, int64_t tokens) {
    std::vector<Request> requests;
    for (const int64_t arrival : arrivals) {
        requests.push_back({static_cast<int64_t>(requests.size()) + 2, arrival, tokens - 1, 1});
    }
    return requests;
}

std::vector<int64_t> Replicas(const std::vector<Placement>& placements) {
    std::vector<int64_t> replicas;
    for (const Placement& placement : placements) {
        replicas.push_back(placement.replica);
    }
    return replicas;
}

using Expected = std::vector<int64_t>;

TEST(LeastLoadedTest, IsTheLowestOfTheLeastAfterEveryChange) {
    std::mt19937_64 random(20261120);
    for (const int64_t replicas : {1, 2, 3, 7, 8, 9, 1000}) {
        LeastLoaded loads(replicas);
        std::vector<int64_t> plain(static_cast<size_t>(replicas));
        for (int change = 0; change < 2000; ++change) {
            const size_t replica = random() % plain.size();
            const auto by = static_cast<int64_t>(random() % 20) - 5;
            plain[replica] += by;
            loads.Add(static_cast<int64_t>(replica), by);
            const auto least = std::min_element(plain.begin(), plain.end());
            ASSERT_EQ(loads.Least(), least - plain.begin()) << replicas << " replicas";
            ASSERT_EQ(loads.Load(static_cast<int64_t>(replica)), plain[replica]);
        }
    }
}

TEST(LeastLoadedTest, RefusesReplicasThatAreNot) {
    EXPECT_THROW(LeastLoaded(0), std::invalid_argument);
    LeastLoaded loads(3);
    EXPECT_THROW(loads.Add(3, 1), std::out_of_range);
    EXPECT_THROW(loads.Add(-1, 1), std::out_of_range);
}

TEST(DispatcherTest, SharesAWindowOut) {
    const std::vector<Request> requests = At({0, 1, 2, 3, 4}, 10);
    Dispatcher dispatcher(requests, 3, 10);
    EXPECT_EQ(dispatcher.WindowBegin(), 0);
    EXPECT_EQ(Replicas(dispatcher.PlaceWindow()), (Expected{0, 1, 2, 0, 1}));
    EXPECT_EQ(dispatcher.WindowBegin(), kNever);
    EXPECT_TRUE(dispatcher.PlaceWindow().empty());
}

TEST(DispatcherTest, WindowsHaveGridTimesAndEmptyOnesAreLeftOut) {
    const std::vector<Request> requests = At({0, 9, 10, 57}, 10);
    Dispatcher dispatcher(requests, 2, 10);
    EXPECT_EQ(dispatcher.PlaceWindow().size(), 2U);
    EXPECT_EQ(dispatcher.WindowBegin(), 10);
    EXPECT_EQ(dispatcher.PlaceWindow().size(), 1U);
    EXPECT_EQ(dispatcher.WindowBegin(), 50);
    EXPECT_EQ(dispatcher.PlaceWindow().size(), 1U);
}

TEST(DispatcherTest, CountsWhatFinishedByTheBeginningOfTheWindow) {
    const std::vector<Request> requests = At({0, 0, 20, 40}, 10);
    Dispatcher dispatcher(requests, 2, 10);
    EXPECT_EQ(Replicas(dispatcher.PlaceWindow()), (Expected{0, 1}));
    dispatcher.Finished(1, 20, 10);
    dispatcher.Finished(0, 21, 10);  // told early; counts from the next window on
    EXPECT_EQ(Replicas(dispatcher.PlaceWindow()), (Expected{1}));
    EXPECT_EQ(dispatcher.Loads().Load(0), 10);
    EXPECT_EQ(Replicas(dispatcher.PlaceWindow()), (Expected{0}));
    EXPECT_EQ(dispatcher.Loads().Load(1), 10);
}

TEST(DispatcherTest, TheOrderOfReportsDoesNotMatter) {
    std::vector<int64_t> arrivals;
    for (int64_t i = 0; i < 300; ++i) {
        arrivals.push_back(i * 3);
    }
    const std::vector<Request> requests = At(arrivals, 7);
    std::vector<Expected> runs;
    for (const unsigned seed : {1U, 2U, 3U}) {
        std::mt19937 random(seed);
        Dispatcher dispatcher(requests, 5, 10);
        Expected all;
        while (dispatcher.WindowBegin() != kNever) {
            std::vector<Placement> placements = dispatcher.PlaceWindow();
            for (const Placement& placement : placements) {
                all.push_back(placement.replica);
            }
            std::shuffle(placements.begin(), placements.end(), random);
            for (const Placement& placement : placements) {
                const Request& request = *placement.request;
                dispatcher.Finished(placement.replica, request.arrival + request.line % 97, 7);
            }
        }
        runs.push_back(all);
    }
    EXPECT_EQ(runs[0], runs[1]);
    EXPECT_EQ(runs[0], runs[2]);
}

}  // namespace
}  // namespace serve
