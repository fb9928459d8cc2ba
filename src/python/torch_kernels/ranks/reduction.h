// SPDX-License-Identifier: Apache-2.0
// The reductions of torch.distributed by those that Gloo has.

#pragma once

#include <ATen/ATen.h>

#include <string>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include "torch_kernels/device/views.h"

namespace advstep_torch {

/// The way in which a reduction of one dtype runs with the reductions that Gloo has.
struct Reduction {
    c10d::ReduceOp::RedOpType op;
    at::ScalarType through;  // the dtype that Gloo gets
    bool average = false;
    at::Tensor factor;  // of PREMUL_SUM
};

/// Chooses the reduction. A wider type changes no result: a sum modulo 2^16 is the low half of one
/// modulo 2^32, and a sum of bool is "or", as with NCCL.
Reduction ReductionOf(const std::string& name, const c10d::ReduceOp& op, at::ScalarType dtype,
                      Views* views);

}  // namespace advstep_torch
