// SPDX-License-Identifier: Apache-2.0
// Call times over batch sizes, for the plots.

#pragma once

#include <nlohmann/json.hpp>

#include "tests/benchmark/interleaved.h"

namespace bench {

/// Medians, in ns of one call, for the plots: full calls beside B0 and Step beside SEED, at many
/// sizes of the batch.
nlohmann::ordered_json MeasureCurves(const Budget& budget);

}  // namespace bench
