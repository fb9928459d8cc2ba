#pragma once

#include <cstdint>

#include "src/base/tensor_view.h"

namespace advstep {

/// The arguments of one aclnnAdvanceStepGetWorkspaceSize call, in the header's spelling.
struct AdvanceStepParams {
    TensorView inputTokens;
    TensorView sampledTokenIds;
    TensorView inputPositions;
    TensorView seqLens;
    TensorView slotMapping;
    TensorView blockTables;
    int64_t numSeqs = 0;
    int64_t numQueries = 0;
    int64_t blockSize = 0;
};

}  // namespace advstep
