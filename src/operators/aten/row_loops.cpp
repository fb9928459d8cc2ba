// SPDX-License-Identifier: Apache-2.0
// Which loops a processor runs.

#include "src/operators/aten/row_loops.h"

namespace advstep_operators {

const RowLoops* FindRowLoops() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        return &avx512::kRowLoops;
    }
    // Each processor with AVX2 converts float16, too; clang has no name for that.
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return &avx2::kRowLoops;
    }
#endif
    return nullptr;
}

}  // namespace advstep_operators
