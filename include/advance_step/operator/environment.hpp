// SPDX-License-Identifier: Apache-2.0
/// The settings and the machine that a plan depends on, with their names. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_ENVIRONMENT_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_ENVIRONMENT_HPP_

#include <cstdint>

#include "advance_step/operator/core.h"

namespace advance_step::op {

/// The reading of a formula that the device follows: ADVANCE_STEP_CONFORMANCE. An operator may
/// check, tile and run differently in each, or ignore it.
enum class Conformance : int32_t { kStandard = 0, kVllm = 1, kExact = 2 };

/// The reaction to a call whose result would differ under conformance exact:
/// ADVANCE_STEP_ON_DIVERGENCE.
enum class OnDivergence : int32_t { kIgnore = 0, kWarn = 1, kError = 2 };

/// Request::environment with the settings as enumerations. The default is a machine of one core,
/// for tests.
struct Environment {
    Conformance conformance = Conformance::kStandard;   ///< the setting
    OnDivergence onDivergence = OnDivergence::kIgnore;  ///< the setting
    int32_t vectorCores = 1;         ///< cores that the launch may use, at least 1
    int32_t socVectorCores = 1;      ///< cores of the SoC
    int64_t unifiedBufferBytes = 1;  ///< bytes of the buffer of one vector core

    Environment() = default;
    /// The plain structure with other types.
    explicit Environment(const AdvStepOperatorEnvironment& plain)
        : conformance(static_cast<Conformance>(plain.conformance)),
          onDivergence(static_cast<OnDivergence>(plain.onDivergence)),
          vectorCores(plain.vectorCores),
          socVectorCores(plain.socVectorCores),
          unifiedBufferBytes(plain.unifiedBufferBytes) {}
};

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_ENVIRONMENT_HPP_
