// SPDX-License-Identifier: Apache-2.0
// Lists all rows in the order of the documentation.

#include "tests/benchmark/dashboard/rows.h"

#include <iterator>
#include <utility>

namespace bench {

Rows AllRows() {
    Rows all;
    for (const auto& rowsOf :
         {&KernelRows, &CallRows, &ColdRows, &StreamRows, &LifeRows, &ManyStreamsRows,
          &SplittingRows, &MemoryRows, &SpeculativeRows, &StepRows, &ReplayRows, &PeerRows}) {
        Rows rows = rowsOf();
        std::move(rows.begin(), rows.end(), std::back_inserter(all));
    }
    return all;
}

}  // namespace bench
