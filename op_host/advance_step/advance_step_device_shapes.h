// SPDX-License-Identifier: Apache-2.0
// The shapes that the tiling of a real device takes, for conformance exact.

#pragma once

#include <cstdint>

#include "op_host/advance_step/advance_step_params.h"
#include "op_host/common/error_codes.h"

namespace advstep {

/// Returns 561002 unless dim 0 of every tensor is the documented one and sampledTokenIds is
/// [numQueries, 1]. The device looks at no other dim, and at no rank. A tensor without elements is
/// refused here, because the kernel would have nothing to write.
op::Status CheckAdvanceStepDeviceShapes(const AdvanceStepParams& params);

/// Returns the columns of a checked block table of any rank: its elements divided by its dim 0.
int64_t ColumnsOf(const TensorView& table);

/// Returns the number with which the device's AdvanceStepV2 computes: the low 32 bits of blockSize.
inline int64_t DeviceBlockSize(int64_t blockSize) {
    return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(blockSize)));
}

}  // namespace advstep
