// SPDX-License-Identifier: Apache-2.0
// The operator Add: its tensors, its checks, its tiling and its two calls.

#include "aclnn_add.h"

#include <algorithm>
#include <cstddef>

#include "add_kernel.h"
#include "advance_step/graph_operator.h"

namespace op = advance_step::op;

namespace {

using own::AddPayload;
using own::AddTiling;
using own::kMostAxes;

/// The axis of a tensor that meets an axis of out, counted from the last; 1 where it has none.
int64_t DimAt(const op::TensorView& view, int64_t rank, int64_t axis) {
    const int64_t own = axis - (rank - view.rank);
    return own < 0 ? 1 : view.dims[own];
}

// [table]
constexpr op::DataTypes kNumbers = op::OneOf(ACL_FLOAT, ACL_INT32, ACL_INT64);
constexpr op::Shapes kAnyShape = {op::Shape::Any()};

struct Add {
    using Payload = AddPayload;
    static constexpr const char kName[] = "aclnnAdd";
    static constexpr op::Signature<3> kTensors = {{
        {"self", op::Access::kRead, kNumbers, kAnyShape, offsetof(AddPayload, self)},
        {"other", op::Access::kRead, kNumbers, kAnyShape, offsetof(AddPayload, other)},
        {"out", op::Access::kWritten, kNumbers, kAnyShape, offsetof(AddPayload, out)},
    }};
    static constexpr const char* kAttributes[] = {"alpha"};

    static op::Status Plan(const op::Request& request, const op::ScalarValue& alpha,
                           op::Planned<AddPayload>* plan);
    static op::Status Infer(const op::TensorView* views, const op::ScalarValue& alpha,
                            op::InferredTensor* tensors);
};
// [/table]

// [check]
op::Status CheckTypes(const op::TensorView* views, const op::ScalarValue& alpha) {
    const aclDataType type = views[0].dataType;
    for (size_t place = 1; place < Add::kTensors.size(); ++place) {
        if (views[place].dataType != type) {
            return op::Error(op::kParamInvalid, Add::kTensors[place].name, " has dtype ",
                             op::NameOf(views[place].dataType), "; expected that of self, ",
                             op::NameOf(type));
        }
    }
    if (!alpha.isNumber() || (type != ACL_FLOAT && !alpha.isInteger())) {
        return op::Error(op::kParamInvalid, "alpha has dtype ", op::NameOf(alpha.dataType()),
                         "; expected ", type == ACL_FLOAT ? "a number" : "an integer");
    }
    return {};
}
// [/check]

// Writes the shape that self and other broadcast to.
op::Status Broadcast(const op::TensorView& self, const op::TensorView& other, AddTiling* tiling) {
    const int64_t rank = std::max(self.rank, other.rank);
    if (rank > kMostAxes) {
        return op::Error(op::kTilingError, self.rank == rank ? "self" : "other", " has ", rank,
                         " axes; expected at most ", kMostAxes);
    }
    tiling->rank = rank;
    for (int64_t axis = 0; axis < rank; ++axis) {
        const int64_t one = DimAt(self, rank, axis);
        const int64_t two = DimAt(other, rank, axis);
        if (one != two && one != 1 && two != 1) {
            return op::Error(
                op::kTilingError, "other has shape ", op::ShapeText(other.dims, other.rank),
                "; expected one that broadcasts with self = ", op::ShapeText(self.dims, self.rank));
        }
        tiling->dims[axis] = one == 1 ? two : one;
    }
    return {};
}

op::Status CheckOut(const op::TensorView& out, const AddTiling& tiling) {
    if (out.rank != tiling.rank || !std::equal(out.dims, out.dims + out.rank, tiling.dims)) {
        return op::Error(op::kTilingError, "out has shape ", op::ShapeText(out.dims, out.rank),
                         "; expected that of the broadcast self and other = ",
                         op::ShapeText(tiling.dims, tiling.rank));
    }
    return {};
}

void FillStrides(const op::TensorView& view, const AddTiling& tiling, int64_t* strides) {
    int64_t step = 1;
    for (int64_t axis = tiling.rank; axis-- > 0;) {
        const int64_t dim = DimAt(view, tiling.rank, axis);
        strides[axis] = dim == 1 ? 0 : step;
        step *= dim;
    }
}

// [program]
const op::KernelProgram* ProgramFor(aclDataType type) {
    static const op::KernelProgram programs[] = {
        op::MakeKernelProgram(Add::kName, nullptr, {own::AddKernelFor(ACL_FLOAT)}),
        op::MakeKernelProgram(Add::kName, nullptr, {own::AddKernelFor(ACL_INT32)}),
        op::MakeKernelProgram(Add::kName, nullptr, {own::AddKernelFor(ACL_INT64)})};
    return &programs[type == ACL_FLOAT ? 0 : type == ACL_INT32 ? 1 : 2];
}
// [/program]

// [plan]
op::Status Add::Plan(const op::Request& request, const op::ScalarValue& alpha,
                     op::Planned<AddPayload>* plan) {
    const op::TensorView* const views = request.views;
    AddTiling& tiling = plan->payload.tiling;
    ADVSTEP_OP_RETURN_IF_ERROR(op::CheckLayouts<kTensors>(views));
    ADVSTEP_OP_RETURN_IF_ERROR(CheckTypes(views, alpha));
    ADVSTEP_OP_RETURN_IF_ERROR(Broadcast(views[0], views[1], &tiling));
    ADVSTEP_OP_RETURN_IF_ERROR(CheckOut(views[2], tiling));
    FillStrides(views[0], tiling, tiling.selfStrides);
    FillStrides(views[1], tiling, tiling.otherStrides);
    tiling.elements = op::ElementsOf(views[2]);
    tiling.floatAlpha = views[0].dataType == ACL_FLOAT ? alpha.To<double>() : 0;
    tiling.wholeAlpha = views[0].dataType == ACL_FLOAT ? 0 : alpha.To<int64_t>();
    const op::Cores cores = op::CutRows(tiling.elements, request.environment.vectorCores);
    tiling.rowsPerCore = cores.rowsPerCore;
    plan->program = ProgramFor(views[0].dataType);
    plan->coreCount = cores.count;
    plan->rows = tiling.elements;
    return {};
}
// [/plan]

// [infer]
op::Status Add::Infer(const op::TensorView* views, const op::ScalarValue& /*alpha*/,
                      op::InferredTensor* tensors) {
    AddTiling tiling{};
    ADVSTEP_OP_RETURN_IF_ERROR(Broadcast(views[0], views[1], &tiling));
    tensors[2].Set(views[0].dataType, tiling.dims, tiling.rank);
    return {};
}
// [/infer]

}  // namespace

// [calls]
ADVSTEP_OPERATOR(aclnnAdd, Add,
                 (const aclTensor* self, const aclTensor* other, const aclScalar* alpha,
                  aclTensor* out),
                 (self, other, alpha, out))
// [/calls]

// [graph]
ADVSTEP_GRAPH_OPERATOR(Add, aclnnAdd, Add)
// [/graph]
