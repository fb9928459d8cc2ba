// SPDX-License-Identifier: Apache-2.0
// The instruction sets that kernels are compiled for.

#pragma once

#include <cstdint>

namespace advstep {

/// The instruction sets that the kernels are compiled for, from the same source.
enum class Isa : int32_t {
    kBaseline,  // the compiler's default for the architecture
    kAvx2,
    kAvx512,  // f, bw, dq and vl
};

/// Whether this machine has the instruction set.
bool IsSupported(Isa isa);

/// The widest instruction set that this machine has.
Isa BestIsa();

}  // namespace advstep
