// SPDX-License-Identifier: Apache-2.0
// The roles of the ranks.

#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace serve {

/// Rank r is member r % T of replica r / T. Member 0 is its leader and speaks with rank 0, which
/// dispatches besides.
struct ClusterLayout {
    int dataParallel = 1;
    int tensorParallel = 1;

    int Ranks() const { return dataParallel * tensorParallel; }
    int Replica(int rank) const { return rank / tensorParallel; }
    int Member(int rank) const { return rank % tensorParallel; }
    int Leader(int replica) const { return replica * tensorParallel; }
    std::string Name(int rank) const {
        return fmt::format("rank {} (replica {}, member {})", rank, Replica(rank), Member(rank));
    }
};

}  // namespace serve
