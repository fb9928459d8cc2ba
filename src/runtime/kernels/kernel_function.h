// SPDX-License-Identifier: Apache-2.0
// A function of a device binary, as look-ups and launches know it.

#pragma once

#include <cstdint>

#include "op_kernel/common/kernel.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// The cores that a binary is made for.
enum class CoreKind : uint8_t { kAiCore, kCube, kVector, kCpu };

/// A function of a live binary.
struct KernelFunction {
    Handle handle = 0;
    Handle binary = 0;
    CoreKind cores = CoreKind::kAiCore;
    void* entry = nullptr;  // code of the binary
    /// The name and the phases. It is never freed: records of unloaded functions refer to it.
    const KernelProgram* program = nullptr;

    const char* name() const { return program->call; }
};

}  // namespace advstep
