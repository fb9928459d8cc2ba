// SPDX-License-Identifier: Apache-2.0
// Checks and copies the tensors of a host operator's plan.

#include "src/aclnn/host_plan.h"

#include <algorithm>
#include <memory>
#include <new>

#include "src/aclnn/executor.h"
#include "src/aclnn/run.h"
#include "src/base/dtype.h"
#include "src/runtime/commands/host_work.h"

namespace advstep {
namespace {

constexpr int64_t kByteBits = 8;

// Returns the bits of an element of less than a byte; 0 for other types.
int64_t BitsOf(aclDataType dataType) {
    switch (dataType) {
        case ACL_INT4:
        case ACL_FLOAT4_E2M1:
        case ACL_FLOAT4_E1M2:
            return 4;
        case ACL_FLOAT6_E3M2:
        case ACL_FLOAT6_E2M3:
            return 6;
        case ACL_UINT1:
            return 1;
        default:
            return 0;
    }
}

// Finds the memory of a view that CheckHostTensor passes. Elements of less than a byte follow one
// another without gaps, and the range has every byte that one of them shares.
void MeasureHostTensor(const TensorView& view, HostTensor* tensor) {
    const int64_t elements = SpannedElements(view);
    if (view.itemSize > 0) {
        tensor->firstByte = view.offset * view.itemSize;
        tensor->spanBytes = elements * view.itemSize;
        tensor->alignment = static_cast<uint64_t>(view.itemSize & -view.itemSize);
        return;
    }
    const int64_t bits = BitsOf(view.dataType);
    const int64_t first = view.offset * bits;
    tensor->firstByte = first / kByteBits;
    tensor->spanBytes =
        elements == 0 ? 0
                      : (first + elements * bits + kByteBits - 1) / kByteBits - tensor->firstByte;
    tensor->alignment = 1;
}

Status CheckHostTensor(const AdvStepHostTensor& tensor, uint32_t place) {
    const auto& view = static_cast<const TensorView&>(tensor.view);
    if (tensor.name == nullptr || (view.rank > 0 && (!view.dims || !view.strides))) {
        return Error(ACLNN_ERR_PARAM_NULLPTR, "the {} of tensor {} is null; expected a pointer",
                     tensor.name == nullptr ? "name" : "shape", place);
    }
    if (view.itemSize <= 0 && BitsOf(view.dataType) == 0) {
        return Error(ACLNN_ERR_PARAM_INVALID, "{} has data type {}; expected one of a known size",
                     tensor.name, NameOf(view.dataType));
    }
    if (view.rank < 0) {
        return Error(ACLNN_ERR_PARAM_INVALID, "{} has rank {}; expected at least 0", tensor.name,
                     view.rank);
    }
    if (tensor.access < ADVSTEP_READS || tensor.access > ADVSTEP_READS_AND_WRITES) {
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "{} has access {}; expected 1 to 3, a value of AdvStepTensorAccess",
                     tensor.name, static_cast<int>(tensor.access));
    }
    return CheckAddresses(view, tensor.name);
}

// The members of a list have the place of the list, and follow one another.
Status CheckHostPlace(const AdvStepHostTensor& tensor, const AdvStepHostTensor* before) {
    const bool follows = before == nullptr || before->argument < tensor.argument ||
                         (before->argument == tensor.argument && before->member >= 0 &&
                          before->member < tensor.member);
    if (tensor.member >= -1 && follows) {
        return {};
    }
    return Error(ACLNN_ERR_PARAM_INVALID,
                 "{} is member {} of argument {}, {}; expected ascending places, and -1 for a "
                 "tensor in no list",
                 tensor.name, tensor.member, tensor.argument,
                 before == nullptr ? std::string("the first one")
                                   : fmt::format("after member {} of argument {}", before->member,
                                                 before->argument));
}

Status CheckHostRequest(const AdvStepHostPlanRequest& request) {
    if (request.tensorCount > 0) {
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(request.tensors, "tensors"));
    }
    for (uint32_t place = 0; place < request.tensorCount; ++place) {
        const AdvStepHostTensor* const tensor = request.tensors + place;
        ADVSTEP_RETURN_IF_ERROR(CheckHostTensor(*tensor, place));
        ADVSTEP_RETURN_IF_ERROR(CheckHostPlace(*tensor, place == 0 ? nullptr : tensor - 1));
    }
    return {};
}

}  // namespace
}  // namespace advstep

using namespace advstep;

AdvStepHostPlan::AdvStepHostPlan(const AdvStepHostCall& planned,
                                 const AdvStepHostPlanRequest& request)
    : call(&planned),
      args(request.args),
      workspaceBytes(request.workspaceBytes),
      isShort(request.isShort != 0) {
    size_t numbers = 0;
    for (uint32_t place = 0; place < request.tensorCount; ++place) {
        numbers += 2 * static_cast<size_t>(request.tensors[place].view.rank);
    }
    tensors.reserve(request.tensorCount);
    views.reserve(request.tensorCount);
    dims_.resize(numbers);
    size_t used = 0;
    for (uint32_t place = 0; place < request.tensorCount; ++place) {
        const AdvStepHostTensor& asked = request.tensors[place];
        HostTensor tensor{asked.name, 0, 0, 1, asked.access, asked.argument, asked.member};
        MeasureHostTensor(static_cast<const TensorView&>(asked.view), &tensor);
        tensors.push_back(tensor);
        CopyShape(asked.view, &used);
    }
}

AdvStepHostPlan::~AdvStepHostPlan() {
    if (releases_) {
        ReleaseHostArgs(call->table->release, args);
    }
}

// The stride of a dimension of 1 says nothing and may be anything. It becomes 1, so that run can
// pass strides on to code that looks at them.
void AdvStepHostPlan::CopyShape(const AdvStepTensorView& view, size_t* used) {
    const auto rank = static_cast<size_t>(view.rank);
    int64_t* const dims = dims_.data() + *used;
    std::copy_n(view.dims, rank, dims);
    for (size_t axis = 0; axis < rank; ++axis) {
        dims[rank + axis] = view.dims[axis] == 1 ? 1 : view.strides[axis];
    }
    views.push_back(view);
    views.back().dims = dims;
    views.back().strides = dims + rank;
    *used += 2 * rank;
}

Status AdvStepHostPlan::Make(const AdvStepHostCall& call, const AdvStepHostPlanRequest& request,
                             AdvStepHostPlan** made) {
    ADVSTEP_RETURN_IF_ERROR(CheckHostRequest(request));
    *made = new AdvStepHostPlan(call, request);
    (*made)->releases_ = true;
    return {};
}
