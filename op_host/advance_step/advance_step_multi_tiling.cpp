// SPDX-License-Identifier: Apache-2.0
// Computes the tiling of AdvanceStepMulti.

#include "op_host/advance_step/advance_step_multi_tiling.h"

#include "op_host/advance_step/advance_step_tiling.h"

namespace advstep {

AdvanceStepMultiTiling TileAdvanceStepMulti(const AdvanceStepParams& params,
                                            const OperatorEnvironment& environment) {
    return {TileAdvanceStep(params, environment),
            params.tensors[AdvanceStepTensor::kSampledTokenIds].dims[0]};
}

}  // namespace advstep
