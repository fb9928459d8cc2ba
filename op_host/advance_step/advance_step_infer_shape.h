#pragma once

#include "op_host/advance_step/advance_step_params.h"
#include "op_host/common/tensor_check.h"
#include "src/base/status.h"

namespace advstep {

/// Holds every tensor's shape against the one that the attributes imply: 561002 for the first, in
/// signature order, that differs. The attributes have been checked.
Status CheckAdvanceStepShapes(const AdvanceStepParams& params);

/// 561002 unless the shape is [numSeqs] or [numSeqs, 1].
inline Status CheckPerSequence(const TensorView& view, const char* name, int64_t numSeqs) {
    return CheckVector(view, name, "[numSeqs]", numSeqs);
}

}  // namespace advstep
