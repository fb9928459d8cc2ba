// SPDX-License-Identifier: Apache-2.0
// Chooses what Gloo computes, and in which dtype.

#include "torch_kernels/ranks/reduction.h"

namespace advstep_torch {
namespace {

// Returns the factor of a PREMUL_SUM.
at::Tensor FactorOf(const std::string& name, const c10d::ReduceOp& op, Views* views) {
    // By the name that all versions of torch from 2.9 on have.
    const auto* const supplement =
        dynamic_cast<const c10d::NCCLPreMulSumSupplement*>(op.supplement_.get());
    TORCH_CHECK_VALUE(supplement != nullptr, name, ": PREMUL_SUM has no factor");
    return !supplement->tensor_factor.defined()
               ? at::scalar_tensor(supplement->double_factor, at::kDouble)
           : IsNpu(supplement->tensor_factor) ? views->Of(supplement->tensor_factor).clone()
                                              : supplement->tensor_factor;
}

}  // namespace

Reduction ReductionOf(const std::string& name, const c10d::ReduceOp& op, at::ScalarType dtype,
                      Views* views) {
    using Op = c10d::ReduceOp;
    static const char* const names[] = {"SUM",  "AVG", "PRODUCT", "MIN",       "MAX",
                                        "BAND", "BOR", "BXOR",    "PREMUL_SUM"};
    const Op::RedOpType given = op;
    TORCH_CHECK_VALUE(given < Op::UNUSED, name, ": unknown reduction ", static_cast<int>(given));
    const auto refuse = [&] {
        TORCH_CHECK_TYPE(false, name, ": Gloo has no ", names[given], " of ", dtype);
    };
    Reduction reduction{given, dtype};
    const bool bitwise = given == Op::BAND || given == Op::BOR || given == Op::BXOR;
    switch (dtype) {
        case at::kBool:
            if (given == Op::SUM || given == Op::BOR) {
                reduction.op = Op::MAX;
            } else if (given == Op::PRODUCT || given == Op::BAND) {
                reduction.op = Op::MIN;
            }
            reduction.through = at::kByte;
            break;
        case at::kShort:
            reduction.through = at::kInt;
            break;
        case at::kUInt16:
        case at::kUInt32:
            reduction.through = at::kLong;
            break;
        case at::kByte:
        case at::kChar:
        case at::kInt:
        case at::kLong:
            break;
        case at::kHalf:
        case at::kBFloat16:
        case at::kFloat:
        case at::kDouble:
            if (bitwise) {
                refuse();
            }
            break;
        default:
            refuse();
    }
    if (given == Op::AVG || given == Op::PREMUL_SUM) {
        if (!c10::isFloatingType(dtype)) {
            refuse();
        }
        reduction.op = Op::SUM;
        reduction.average = given == Op::AVG;
    }
    if (given == Op::PREMUL_SUM) {
        reduction.factor = FactorOf(name, op, views);
    }
    return reduction;
}

}  // namespace advstep_torch
