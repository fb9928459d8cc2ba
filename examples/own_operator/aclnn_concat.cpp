// SPDX-License-Identifier: Apache-2.0
// The operator Concat, a host operator: its function, its checks, its plan and its two calls.

#include "aclnn_concat.h"

#include <cstring>
#include <string>
#include <vector>

#include "advance_step/host_call.h"

namespace {

constexpr char kCall[] = "aclnnConcat";

// [args]
/// What a plan keeps besides its tensors.
struct ConcatArgs {
    int64_t dim;
};
// [/args]

// Calls visit(byte) for each element of a part of a view, in the order of their indices: the part
// with these dims that begins at an element. `byte` is the distance from the storage address.
template <typename Visit>
void ForEachElement(const AdvStepTensorView& view, const int64_t* dims, int64_t element,
                    Visit&& visit) {
    std::vector<int64_t> index(static_cast<size_t>(view.rank), 0);
    int64_t count = 1;
    for (int64_t axis = 0; axis < view.rank; ++axis) {
        count *= dims[axis];
    }
    for (; count > 0; --count) {
        visit(element * view.itemSize);
        for (int64_t axis = view.rank; axis-- > 0;) {
            int64_t& at = index[static_cast<size_t>(axis)];
            element += view.strides[axis];
            if (++at < dims[axis]) {
                break;
            }
            element -= at * view.strides[axis];
            at = 0;
        }
    }
}

// [run]
// Reads all tensors before it writes out, which may overlap them.
int32_t RunConcat(const void* args, const AdvStepHostRun* run) {
    const int64_t dim = static_cast<const ConcatArgs*>(args)->dim;
    const AdvStepTensorView& out = run->tensors[run->tensorCount - 1];
    const auto item = static_cast<size_t>(out.itemSize);
    std::vector<uint8_t> read;
    for (uint32_t place = 0; place + 1 < run->tensorCount; ++place) {
        const AdvStepTensorView& in = run->tensors[place];
        ForEachElement(in, in.dims, in.offset, [&](int64_t byte) {
            read.insert(read.end(), in.data + byte, in.data + byte + item);
        });
    }
    const uint8_t* next = read.data();
    int64_t shift = 0;  // where the tensor begins in out, along dim
    for (uint32_t place = 0; place + 1 < run->tensorCount; ++place) {
        const AdvStepTensorView& in = run->tensors[place];
        ForEachElement(out, in.dims, out.offset + shift * out.strides[dim], [&](int64_t byte) {
            std::memcpy(out.data + byte, next, item);
            next += item;
        });
        shift += in.dims[dim];
    }
    return 0;
}
// [/run]

// [table]
constexpr AdvStepHostCallTable kTable = {sizeof(AdvStepHostCallTable), ADVSTEP_HOST_CALL_INTERFACE,
                                         kCall, &RunConcat,
                                         [](void* args) { delete static_cast<ConcatArgs*>(args); }};

const AdvStepHostCall* Concat() {
    static const AdvStepHostCall* const call = [] {
        const AdvStepHostCall* registered = nullptr;
        (void)advstepRegisterHostCall(&kTable, &registered);
        return registered;
    }();
    return call;
}
// [/table]

aclnnStatus Refuse(aclnnStatus code, const std::string& message) {
    return advstepRefuseHostCall(kCall, code, message.c_str());
}

// [check]
// Refuses a tensor of the list that does not fit out, and adds its dim to *sum.
aclnnStatus CheckTensor(const AdvStepTensorView& view, const AdvStepTensorView& out, int64_t dim,
                        size_t place, int64_t* sum) {
    const std::string name = "tensors[" + std::to_string(place) + "]";
    if (view.dataType != out.dataType) {
        const char* const type = advstepDataTypeName(view.dataType);
        return Refuse(
            ACLNN_ERR_PARAM_INVALID,
            name + " has dtype " + (type != nullptr ? type : "unknown") + "; expected that of out");
    }
    bool fits = view.rank == out.rank;
    for (int64_t axis = 0; fits && axis < out.rank; ++axis) {
        fits = axis == dim || view.dims[axis] == out.dims[axis];
    }
    if (!fits) {
        return Refuse(ACLNN_ERR_INNER_TILING_ERROR,
                      name + " has another shape than out; expected a difference along dim only");
    }
    *sum += view.dims[dim];
    return ACLNN_SUCCESS;
}
// [/check]

// Reads the tensors, those of the list and then out.
aclnnStatus ReadTensors(const aclTensorList* list, const aclTensor* out,
                        std::vector<AdvStepHostTensor>* tensors) {
    const aclTensor* const* members = nullptr;
    uint64_t count = 0;
    aclnnStatus code = advstepReadTensorList(list, &members, &count);
    for (uint64_t place = 0; code == ACLNN_SUCCESS && place < count; ++place) {
        tensors->push_back({{}, "tensors", ADVSTEP_READS, 0, static_cast<int32_t>(place)});
        code = advstepReadTensor(members[place], &tensors->back().view);
    }
    if (code == ACLNN_SUCCESS) {
        tensors->push_back({{}, "out", ADVSTEP_WRITES, 1, -1});
        code = advstepReadTensor(out, &tensors->back().view);
    }
    return code;
}

aclnnStatus CheckAll(const std::vector<AdvStepHostTensor>& tensors, int64_t* dim) {
    const AdvStepTensorView& out = tensors.back().view;
    if (tensors.size() < 2 || out.itemSize <= 0) {
        return Refuse(ACLNN_ERR_PARAM_INVALID,
                      tensors.size() < 2 ? "tensors is empty; expected at least one tensor"
                                         : "out has a dtype without whole bytes; expected another");
    }
    if (*dim < -out.rank || *dim >= out.rank) {
        return Refuse(ACLNN_ERR_INNER_TILING_ERROR, "dim is " + std::to_string(*dim) +
                                                        "; expected one of the " +
                                                        std::to_string(out.rank) + " axes of out");
    }
    *dim += *dim < 0 ? out.rank : 0;
    int64_t sum = 0;
    for (size_t place = 0; place + 1 < tensors.size(); ++place) {
        if (const aclnnStatus code = CheckTensor(tensors[place].view, out, *dim, place, &sum)) {
            return code;
        }
    }
    return sum == out.dims[*dim]
               ? ACLNN_SUCCESS
               : Refuse(ACLNN_ERR_INNER_TILING_ERROR,
                        "out has " + std::to_string(out.dims[*dim]) + " along dim; expected " +
                            std::to_string(sum) + ", the sum of those of tensors");
}

// [phase1]
aclnnStatus PlanConcat(const aclTensorList* list, int64_t dim, const aclTensor* out,
                       uint64_t* workspaceSize, aclOpExecutor** executor) {
    std::vector<AdvStepHostTensor> tensors;
    if (const aclnnStatus code = ReadTensors(list, out, &tensors)) {
        return code;
    }
    if (const aclnnStatus code = CheckAll(tensors, &dim)) {
        return code;
    }
    const AdvStepHostPlanRequest request = {sizeof(AdvStepHostPlanRequest),
                                            static_cast<uint32_t>(tensors.size()),
                                            tensors.data(),
                                            new ConcatArgs{dim},
                                            0,
                                            0};
    AdvStepHostPlan* plan = nullptr;
    aclnnStatus code = advstepMakeHostPlan(Concat(), &request, &plan);
    if (code == ACLNN_SUCCESS) {
        code = advstepMakeHostExecutor(plan, nullptr, workspaceSize, executor);
        advstepReleaseHostPlan(plan);  // the executor has its share
    }
    return code;
}
// [/phase1]

}  // namespace

#define OWN_EXPORT extern "C" __attribute__((visibility("default")))

// [calls]
OWN_EXPORT aclnnStatus aclnnConcatGetWorkspaceSize(const aclTensorList* tensors, int64_t dim,
                                                   aclTensor* out, uint64_t* workspaceSize,
                                                   aclOpExecutor** executor) {
    try {
        return PlanConcat(tensors, dim, out, workspaceSize, executor);
    } catch (...) {
        return advstepRefuseHostCall(kCall, ACLNN_ERR_INNER, nullptr);
    }
}

OWN_EXPORT aclnnStatus aclnnConcat(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                   aclrtStream stream) {
    return advstepRunHostExecutor(Concat(), workspace, workspaceSize, executor, stream);
}
// [/calls]
