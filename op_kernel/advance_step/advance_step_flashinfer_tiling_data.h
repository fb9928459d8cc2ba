// SPDX-License-Identifier: Apache-2.0
// The tiling, addresses and payload of AdvanceStepFlashInfer.

#pragma once

#include <cstdint>

#include "op_kernel/advance_step/advance_step_tiling_data.h"

namespace advstep {

/// The distribution of one AdvanceStepFlashInfer call over the cores: written by the host, read by
/// every core.
struct AdvanceStepFlashInferTiling {
    AdvanceStepTiling rows;
    int64_t capacity;  // entries of pagedKvIndices
};

/// Addresses of the first elements.
struct AdvanceStepFlashInferArgs {
    AdvanceStepArgs common;
    int32_t* pagedKvIndices;
    int32_t* pagedKvIndptr;
    int32_t* pagedKvLastPageLen;
    int32_t* blockTableBound;
};

struct AdvanceStepFlashInferPayload {
    AdvanceStepFlashInferTiling tiling;
    AdvanceStepFlashInferArgs args;
    uint8_t* workspace;  // aligned: int64 [coreCount], the pages of each core's queries
};

}  // namespace advstep
