#pragma once

#include <cstdint>

#include "src/base/settings.h"

namespace advstep {

/// What an operator's host side needs to know of the device it plans for.
struct OperatorEnvironment {
    Conformance conformance = Conformance::kStandard;
    OnDivergence onDivergence = OnDivergence::kIgnore;
    int32_t vectorCores = 1;         // that a launch may use
    int32_t socVectorCores = 1;      // of the SoC: what conformance exact depends on
    int64_t unifiedBufferBytes = 1;  // of one vector core
};

inline OperatorEnvironment EnvironmentOf(const Settings& settings, int32_t vectorCores) {
    return {settings.conformance, settings.onDivergence, vectorCores, settings.soc.vectorCores,
            settings.soc.unifiedBufferBytes};
}

}  // namespace advstep
