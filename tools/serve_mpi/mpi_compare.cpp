// SPDX-License-Identifier: Apache-2.0
// Implements the comparison of a group's device states, and the faults that tests ask for.

#include "mpi_compare.h"

#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>

namespace serve {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// A kernel: args is the byte in which a bit flips.
void FlipKernel(void* byte) { *static_cast<unsigned char*>(byte) ^= 1U; }

void Flip(const StepState& state, const std::string& tensor, Stream& stream) {
    for (const DeviceArray& array : state.arrays) {
        if (array.name == tensor) {
            stream.Launch(FlipKernel, array.data, "flip");
            return;
        }
    }
    throw ClusterError(fmt::format("--flip-at: no tensor is named {}", tensor));
}

}  // namespace

void GroupObserver::AfterStep(const StepState& state, Stream& stream) {
    MeetFaults(state);
    if (options_.flipAt.rank == link_.Rank() && options_.flipAt.step == state.step) {
        Flip(state, options_.flipAt.tensor, stream);
    }
    const Clock::time_point start = Clock::now();
    digest_.Compute(state, stream);
    cost_.digestSeconds += SecondsSince(start);
    cost_.digestBytes += digest_.Bytes();
    link_.Poll(state.step);
    if (options_.tensorParallel > 1) {
        Compare(state);
    }
    ++cost_.steps;
}

void GroupObserver::MeetFaults(const StepState& state) {
    const auto meets = [&](const RankFault& fault) {
        return fault.rank == link_.Rank() && fault.step == state.step;
    };
    if (meets(options_.killAt)) {
        raise(SIGKILL);
    }
    if (meets(options_.stopAt)) {
        raise(SIGSTOP);
    }
    if (options_.slowRank == link_.Rank()) {
        std::this_thread::sleep_for(std::chrono::microseconds(options_.slowMicroseconds));
    }
}

void GroupObserver::Compare(const StepState& state) {
    // The least digest, and the complement of the greatest.
    const Clock::time_point start = Clock::now();
    const uint64_t own[2] = {digest_.OfStep(), ~digest_.OfStep()};
    uint64_t least[2] = {0, 0};
    MPI_Request request = MPI_REQUEST_NULL;
    Link::Must(MPI_Iallreduce(own, least, 2, MPI_UINT64_T, MPI_MIN, link_.Group(), &request),
               "MPI_Iallreduce");
    link_.Wait(&request, link_.GroupRanks(), "the digests of its group");
    cost_.collectiveSeconds += SecondsSince(start);
    if (least[0] != ~least[1]) {
        NameDivergence(state);
    }
}

void GroupObserver::NameDivergence(const StepState& state) {
    const std::vector<uint64_t>& own = digest_.Tensors();
    const std::vector<int>& ranks = link_.GroupRanks();
    std::vector<uint64_t> all(own.size() * ranks.size());
    const auto count = static_cast<int>(own.size());
    MPI_Request request = MPI_REQUEST_NULL;
    Link::Must(MPI_Iallgather(own.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T,
                              link_.Group(), &request),
               "MPI_Iallgather");
    link_.Wait(&request, ranks, "the tensors' digests");
    std::vector<std::vector<uint64_t>> digests;
    for (size_t member = 0; member < ranks.size(); ++member) {
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(member * own.size());
        digests.emplace_back(first, first + count);
    }
    const std::optional<Divergence> found = FindDivergence(digests);
    if (!found) {
        throw ClusterError(fmt::format("replica {}: its ranks are not at the same step {}",
                                       link_.Layout().Replica(link_.Rank()), state.step));
    }
    throw ClusterError(fmt::format(
        "{} differs at step {} in tensor {}: digest {:016x}, that of {} is {:016x}",
        link_.Layout().Name(ranks[found->member]), state.step, state.arrays[found->tensor].name,
        digests[found->member][found->tensor], link_.Layout().Name(ranks[found->reference]),
        digests[found->reference][found->tensor]));
}

void GroupObserver::Finished(const Sequence& sequence, int64_t /*slot*/) {
    source_.Finished(MakeFinished(link_.Layout().Replica(link_.Rank()), sequence));
}

}  // namespace serve
