// SPDX-License-Identifier: Apache-2.0
// Looks at the description of a tensor without a copy of it.

#pragma once

#include "graph/tensor.h"
#include "src/graph/operator_kind.h"
#include "src/graph/tensor_state.h"

namespace advstep::graph {

class TensorAccess {
 public:
    static bool HasShape(const ge::Tensor& tensor, const ValueDesc& desc) {
        const ge::TensorDesc& own = tensor.state_->desc;
        return own.dataType_ == desc.dataType && own.shape_.dims_ == desc.dims;
    }
};

}  // namespace advstep::graph
