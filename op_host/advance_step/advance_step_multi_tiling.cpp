#include "op_host/advance_step/advance_step_multi_tiling.h"

#include "op_host/advance_step/advance_step_tiling.h"

namespace advstep {

AdvanceStepMultiTiling TileAdvanceStepMulti(const AdvanceStepParams& params,
                                            const OperatorEnvironment& environment) {
    return {TileAdvanceStep(params, environment),
            params.tensors[AdvanceStepTensor::kSampledTokenIds].dims[0]};
}

}  // namespace advstep
