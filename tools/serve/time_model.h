// SPDX-License-Identifier: Apache-2.0
// The modelled time of an iteration, and the accelerator and the model that it comes from.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "virtual_clock.h"

namespace serve {

/// The most that a cost may be.
inline constexpr double kMostCostMicroseconds = 1e9;

/// Names the file and the key.
class TimeModelError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// A model on accelerators, from which costs and the size of the KV cache follow.
struct Deployment {
    int64_t layers = 0;
    int64_t kvHeads = 0;
    int64_t headDim = 0;
    double parameters = 0;
    int64_t dtypeBytes = 2;  // of weights and of K and V
    double peakTflops = 0;   // of a device
    double bandwidthGbPerS = 0;
    double memoryGb = 0;
    int64_t devices = 1;      // that share each layer
    double efficiency = 0.5;  // of the peak, and of the bandwidth
    double overheadMs = 5;    // of an iteration: launches and the host

    /// K and V of one token, in all layers.
    int64_t KvBytes() const { return 2 * layers * kvHeads * headDim * dtypeBytes; }
    /// What the weights leave of nine tenths of the devices' memory.
    double FreeGb() const;
    /// Reading the weights and the context takes their bytes by the bandwidth, a token two
    /// operations for each parameter by the peak; nothing of it overlaps.
    IterationCosts Costs() const;
    /// The same before they are rounded, in the order of IterationCosts, of any size.
    std::array<double, 4> CostSeconds() const;
};

struct TimeModel {
    IterationCosts costs;
    std::optional<Deployment> deployment;  // unless the costs were given or fitted
};

/// Whether the name stands for costs of its own, and for no file.
bool IsPreset(const std::string& name);

/// @param name  default, 7b, 8b, 13b, 70b; or a JSON file with costs or a deployment
/// @throws TimeModelError
TimeModel LoadTimeModel(const std::string& name);

/// What --time-model says of its argument.
inline constexpr const char* kTimeModelHelp =
    "cost of an iteration: default (20 ms, and 0.1 ms a token), 7b, 8b, 13b or 70b (of a model of "
    "so many parameters), or a JSON file, which --fit prints";

}  // namespace serve
