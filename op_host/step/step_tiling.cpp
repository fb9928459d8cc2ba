#include "op_host/step/step_tiling.h"

#include <algorithm>

#include "src/base/checked_math.h"

namespace advstep {

StepTiling TileStep(const StepDims& dims, int64_t blockSize,
                    const OperatorEnvironment& environment) {
    StepTiling tiling{};
    tiling.exact = environment.conformance == Conformance::kExact ? 1 : 0;
    tiling.slotsPerCore = std::max<int64_t>(1, CeilDiv(dims.batch, environment.vectorCores));
    tiling.coreCount = static_cast<int32_t>(CeilDiv(dims.batch, tiling.slotsPerCore));
    tiling.batch = dims.batch;
    tiling.tableWidth = dims.tableWidth;
    tiling.freeCapacity = dims.freeCapacity;
    tiling.inputWidth = dims.inputWidth;
    tiling.preWidth = dims.preWidth;
    tiling.blockSize = blockSize;
    return tiling;
}

}  // namespace advstep
