// SPDX-License-Identifier: Apache-2.0
// Tensor parallel: the ranks of a group compare the state of their devices after every step.

#pragma once

#include <cstdint>
#include <vector>

#include "cluster_options.h"
#include "granted_source.h"
#include "mpi_link.h"
#include "rank_state.h"
#include "server_observer.h"
#include "state_digest.h"

namespace serve {

/// One MPI_Iallreduce of 16 bytes a step. Only if it finds a difference do the ranks exchange the
/// digests of the tensors, to name the first that differs.
class GroupObserver : public ServerObserver {
 public:
    /// All must outlive the observer.
    GroupObserver(Link& link, GrantedSource& source, const ClusterOptions& options)
        : link_(link), source_(source), options_(options) {}

    bool LooksAtSteps() const override { return true; }
    /// @throws ClusterError  names rank, step and tensor
    void AfterStep(const StepState& state, Stream& stream) override;
    void Finished(const Sequence& sequence, int64_t slot) override;

    const RankCost& Cost() const { return cost_; }
    uint64_t Digest() const { return digest_.OfRun(); }

 private:
    void MeetFaults(const StepState& state);
    void Compare(const StepState& state);
    [[noreturn]] void NameDivergence(const StepState& state);

    Link& link_;
    GrantedSource& source_;
    const ClusterOptions& options_;
    StateDigest digest_;
    RankCost cost_;
};

}  // namespace serve
