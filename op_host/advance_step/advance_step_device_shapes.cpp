// SPDX-License-Identifier: Apache-2.0
// Checks shapes as the tiling of a real device does.

#include "op_host/advance_step/advance_step_device_shapes.h"

#include <algorithm>

#include "op_host/common/error_codes.h"
#include "op_host/common/tensor_check.h"

namespace advstep {

op::Status CheckAdvanceStepDeviceShapes(const AdvanceStepParams& params) {
    const auto dims = DimsOf<AdvanceStepDim>(params);
    for (size_t place = 0; place < kAdvanceStepSignature.size(); ++place) {
        const TensorArgument& argument = kAdvanceStepSignature[place];
        const TensorView& view = params.tensors[place];
        if (place == AdvanceStepTensor::kSampledTokenIds) {
            ADVSTEP_OP_RETURN_IF_ERROR(CheckShape(view, argument, dims.data()));
            continue;
        }
        const bool isEmpty =
            std::any_of(view.dims, view.dims + view.rank, [](int64_t dim) { return dim < 1; });
        if (view.rank < 1 || view.dims[0] != params.numSeqs || isEmpty) {
            return op::Error(kTilingError, argument.name, " has shape ",
                             ShapeText(view.dims, view.rank), "; expected [numSeqs, ...] = [",
                             params.numSeqs, ", ...] with elements");
        }
    }
    return {};
}

int64_t ColumnsOf(const TensorView& table) {
    int64_t columns = 1;
    for (int64_t axis = 1; axis < table.rank; ++axis) {
        columns *= table.dims[axis];  // the check of the layout has bounded the product
    }
    return columns;
}

}  // namespace advstep
