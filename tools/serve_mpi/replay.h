// SPDX-License-Identifier: Apache-2.0
// The replicas of a run, one after the other in one process: what the ranks are compared with.

#pragma once

#include "cluster_options.h"
#include "cluster_summary.h"

namespace serve {

/// Serves each replica's requests as the assignment of the options gives them. Uses nothing of MPI.
/// An error of a server, or an interrupt, ends the replay and is the failure of the result, which
/// has the replicas only after an interrupt.
/// @throws AssignmentError, TraceError, NeverFits, InterruptedEarly
/// @throws AclError, std::runtime_error  a server cannot be made
ClusterResult ReplayAssignment(const ClusterOptions& options);

}  // namespace serve
