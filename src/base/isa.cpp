// SPDX-License-Identifier: Apache-2.0
// Finds the instruction sets of the processor.

#include "src/base/isa.h"

#include <initializer_list>

namespace advstep {

bool IsSupported(Isa isa) {
#if defined(__x86_64__)
    switch (isa) {
        case Isa::kBaseline:
            return true;
        case Isa::kAvx2:
            return __builtin_cpu_supports("avx2");
        case Isa::kAvx512:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    }
    return false;
#else
    return isa == Isa::kBaseline;
#endif
}

Isa BestIsa() {
    for (const Isa isa : {Isa::kAvx512, Isa::kAvx2}) {
        if (IsSupported(isa)) {
            return isa;
        }
    }
    return Isa::kBaseline;
}

}  // namespace advstep
