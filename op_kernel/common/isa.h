#pragma once

#include <cstdint>

namespace advstep {

/// Instruction sets that the kernels are compiled for: one source, several times.
enum class Isa : int32_t {
    kBaseline,  // what the compiler emits for the architecture when it is asked for no more
    kAvx2,
    kAvx512,  // f, bw, dq and vl
};

/// Whether this machine runs it.
bool IsSupported(Isa isa);

/// The widest that this machine runs.
Isa BestIsa();

}  // namespace advstep
