// SPDX-License-Identifier: Apache-2.0
/// The settings and the properties of the device that a plan depends on. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_ENVIRONMENT_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_ENVIRONMENT_HPP_

#include <cstdint>

#include "advance_step/operator/core.h"

namespace advance_step::op {

/// The setting ADVANCE_STEP_CONFORMANCE: a formula can be read in several ways, and the device
/// follows this one. An operator may check, tile and run differently in each, or ignore it.
enum class Conformance : int32_t { kStandard = 0, kVllm = 1, kExact = 2 };

/// The setting ADVANCE_STEP_ON_DIVERGENCE: the reaction to a call whose result would be different
/// under conformance exact.
enum class OnDivergence : int32_t { kIgnore = 0, kWarn = 1, kError = 2 };

/// Request::environment with the settings as enumerations. The default is a device with one core,
/// for tests.
struct Environment {
    Conformance conformance = Conformance::kStandard;   ///< the setting
    OnDivergence onDivergence = OnDivergence::kIgnore;  ///< the setting
    int32_t vectorCores = 1;         ///< cores that the launch may use, at least 1
    int32_t socVectorCores = 1;      ///< cores of the SoC
    int64_t unifiedBufferBytes = 1;  ///< bytes of the buffer of one vector core

    Environment() = default;
    /// Converts the plain structure.
    explicit Environment(const AdvStepOperatorEnvironment& plain)
        : conformance(static_cast<Conformance>(plain.conformance)),
          onDivergence(static_cast<OnDivergence>(plain.onDivergence)),
          vectorCores(plain.vectorCores),
          socVectorCores(plain.socVectorCores),
          unifiedBufferBytes(plain.unifiedBufferBytes) {}
};

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_ENVIRONMENT_HPP_
