// SPDX-License-Identifier: Apache-2.0
// The rows of the dashboard, by subject.

#pragma once

#include "tests/benchmark/dashboard/row.h"

namespace bench {

Rows KernelRows();
Rows CallRows();
Rows ColdRows();
Rows StreamRows();
Rows LifeRows();
Rows ManyStreamsRows();
Rows SplittingRows();
Rows MemoryRows();
Rows SpeculativeRows();
Rows ReplayRows();
Rows StepRows();
Rows PeerRows();

/// All of them, in the order of docs/internals/benchmarking.md.
Rows AllRows();

}  // namespace bench
