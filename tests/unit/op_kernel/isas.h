// SPDX-License-Identifier: Apache-2.0
// The instruction sets that kernels are played with.
#ifndef ADVANCE_STEP_TESTS_UNIT_OP_KERNEL_ISAS_H_
#define ADVANCE_STEP_TESTS_UNIT_OP_KERNEL_ISAS_H_

#include <vector>

#include "src/base/isa.h"

namespace unit {

inline std::vector<advstep::Isa> IsasOfThisMachine() {
    using advstep::Isa;
    std::vector<Isa> isas;
    for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
        if (advstep::IsSupported(isa)) {
            isas.push_back(isa);
        }
    }
    return isas;
}

}  // namespace unit

#endif
