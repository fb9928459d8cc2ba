// SPDX-License-Identifier: Apache-2.0
// What is special about operators of torch: the flags of the package's table.

#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <string>

namespace advstep_torch {

/// The flags of advance_step/_torch_operators.py, which says what each of them means.
enum class Flag : uint32_t {
    kTorchNpus = 1U << 0,
    kTakesCpuTensors = 1U << 1,
    kNamesDevices = 1U << 2,
    kGrows = 1U << 3,
    kIndexesByTargets = 1U << 4,
    kOutFormAgrees = 1U << 5,
    kTrial = 1U << 6,
    kTrialIfStrided = 1U << 7,
    kTrialIfBool = 1U << 8,
    kTrialOfDtypes = 1U << 9,
    kNoTrialOfDtypes = 1U << 10,
    kMatrices = 1U << 11,
    kDefaultDtype = 1U << 12,
    kComparesNumber = 1U << 13,
    kCondition = 1U << 14,
    kAlerts = 1U << 15,
    kAddsInOrder = 1U << 16,
    kMaskIndices = 1U << 17,
    kOutputSize = 1U << 18,
    kZeroes = 1U << 19
};

/// The flags of one operator.
class Flags {
 public:
    /// Returns those that the table has for an operator of torch; an operator of another namespace
    /// has none.
    static Flags Of(const c10::OperatorName& name);

    bool Has(Flag flag) const { return (bits_ & static_cast<uint32_t>(flag)) != 0; }

 private:
    uint32_t bits_ = 0;
};

/// Reads the table, before any operator is described: lines with a name and its flags.
void ReadSpecialOperators(const std::string& table);

}  // namespace advstep_torch
