// SPDX-License-Identifier: Apache-2.0
// The properties of a device that checks and tilings of operators depend on.

#pragma once

#include <cstdint>

#include "src/base/settings.h"

namespace advstep {

/// The properties of a device that the host side of an operator plans with.
struct OperatorEnvironment {
    Conformance conformance = Conformance::kStandard;
    OnDivergence onDivergence = OnDivergence::kIgnore;
    int32_t vectorCores = 1;         // cores that a launch may use
    int32_t socVectorCores = 1;      // cores of the SoC, which conformance exact depends on
    int64_t unifiedBufferBytes = 1;  // of the buffer of one vector core
};

inline OperatorEnvironment EnvironmentOf(const Settings& settings, int32_t vectorCores) {
    return {settings.conformance, settings.onDivergence, vectorCores, settings.soc.vectorCores,
            settings.soc.unifiedBufferBytes};
}

}  // namespace advstep
