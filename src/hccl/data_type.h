// SPDX-License-Identifier: Apache-2.0
// The data types of HCCL: sizes, names, and which operators take them.

#pragma once

#include <cstdint>

#include "src/hccl/outcome.h"

namespace advstep::hccl {

/// What an operator does with elements.
enum class Handling {
    kCopies,    // all types of 1, 2, 4 and 8 bytes
    kReduces,   // the types of numbers
    kReducesV,  // those without uint64 and float64
};

/// Returns the bytes of an element, 0 for an unknown type.
uint32_t SizeOf(HcclDataType type) noexcept;
/// Returns "HCCL_DATA_TYPE_FP32" and the like.
const char* NameOf(HcclDataType type) noexcept;
/// Returns "HCCL_REDUCE_SUM" and the like.
const char* NameOf(HcclReduceOp op) noexcept;

/// HCCL_E_PARA: the type is unknown. HCCL_E_NOT_SUPPORT: the operator does not take it.
Outcome CheckType(const char* argument, HcclDataType type, Handling handling);
/// HCCL_E_PARA: the operation is unknown.
Outcome CheckOp(HcclReduceOp op);

}  // namespace advstep::hccl
