// SPDX-License-Identifier: Apache-2.0
// The run on the ranks of MPI, as each of them sees it.

#pragma once

#include "cluster_options.h"
#include "mpi_link.h"

namespace serve {

/// Rank 0: dispatches, serves, collects, and writes what was done. Ends the process if the run
/// fails.
/// @return the exit status of all ranks
int RunFirstRank(Link& link, const ClusterOptions& options);

/// Every other rank: serves what is granted to its replica.
/// @return the exit status of all ranks
int RunOtherRank(Link& link, const ClusterOptions& options);

}  // namespace serve
