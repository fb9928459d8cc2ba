// SPDX-License-Identifier: Apache-2.0
// The functions that operators of other libraries plan and run with.
#include "advance_step/operator/graph_core.h"
#include "faults/scene.h"
#include "support/handles.h"
#include "support/own_table.h"
#include "support/tensor.h"

namespace faults {
namespace {

// Its tensors, and a call that begins anew after a failure.
struct OwnBatch {
    support::DeviceBuffer memory{std::vector<int64_t>{1, 2, 3, 4}};
    support::Tensor in{support::TensorSpec{{2}, memory.At(0), ACL_INT64}};
    support::Tensor out{support::TensorSpec{{2}, memory.At(16), ACL_INT64}};
    support::OwnCall call{in.Get(), nullptr, out.Get(), 1, 2};
};

support::OwnCall& Own(Scene& s) { return static_cast<OwnBatch*>(s.batch.get())->call; }

int MakeOwn(Scene& s) {
    s.batch = std::make_shared<OwnBatch>();
    return 0;
}
int BeginOwn(Scene& s) { return First({MakeOwn(s), Own(s).Begin()}); }
int BeginAgain(Scene& s) { return Own(s).Begin(); }
int RunOwn(Scene& s) { return First({Own(s).Plan(), Own(s).Run(s.stream)}); }
int DestroyOwn(Scene& s) { return aclDestroyAclOpExecutor(Own(s).executor); }
int MakeOwnScalar(Scene& s) {
    float value = 3;
    s.made = aclCreateScalar(&value, ACL_FLOAT);
    return s.made != nullptr ? 0 : -1;
}

int MakeOwnInts(Scene& s) {
    const int64_t values[] = {1, 2};
    s.made = aclCreateIntArray(values, 2);
    return s.made != nullptr ? 0 : -1;
}
int MakeOwnFloats(Scene& s) {
    const float values[] = {1, 2};
    s.made = aclCreateFloatArray(values, 2);
    return s.made != nullptr ? 0 : -1;
}
int MakeOwnBools(Scene& s) {
    const bool values[] = {true, false};
    s.made = aclCreateBoolArray(values, 2);
    return s.made != nullptr ? 0 : -1;
}

template <typename Value, typename Array, auto kRead>
int ReadArray(Scene& s) {
    const Value* values = nullptr;
    uint64_t count = 0;
    return kRead(static_cast<Array*>(s.made), &values, &count);
}
template <typename Type, auto kDestroy>
int EndMade(Scene& s) {
    return kDestroy(static_cast<Type*>(s.made));
}

int MakeOwnTensor(Scene& s) {
    const int64_t dims[] = {2};
    s.made = aclCreateTensor(dims, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, dims, 1, nullptr);
    return s.made != nullptr ? 0 : -1;
}
int MakeOwnTensors(Scene& s) {
    if (MakeOwnTensor(s) != 0) {
        return -1;
    }
    const auto* const tensor = static_cast<const aclTensor*>(s.made);
    s.made = aclCreateTensorList(&tensor, 1);
    if (s.made == nullptr) {
        (void)aclDestroyTensor(tensor);
    }
    return s.made != nullptr ? 0 : -1;
}
int MakeOwnScalars(Scene& s) {
    if (MakeOwnScalar(s) != 0) {
        return -1;
    }
    const auto* const scalar = static_cast<const aclScalar*>(s.made);
    s.made = aclCreateScalarList(&scalar, 1);
    if (s.made == nullptr) {
        (void)aclDestroyScalar(scalar);
    }
    return s.made != nullptr ? 0 : -1;
}

constexpr AdvStepGraphOperator kOwnTie = {
    sizeof(AdvStepGraphOperator),
    0,
    "OwnTied",
    &support::kOwnTable,
    nullptr,
    [](const aclTensor* const*, const AdvStepGraphValue*, uint64_t*, aclOpExecutor**) -> int32_t {
        return ACLNN_ERR_INNER;
    },
    [](void*, uint64_t, aclOpExecutor*, aclrtStream) -> int32_t { return ACLNN_ERR_INNER; },
    nullptr,
    nullptr,
    0};

}  // namespace

std::vector<Call> OwnOperatorCalls() {
    return {
        {"advstepRegisterOperator", nullptr,
         [](Scene&) -> int {
             static constexpr AdvStepOperatorTable kTable = {sizeof(AdvStepOperatorTable),
                                                             ADVSTEP_OPERATOR_INTERFACE,
                                                             "aclnnOwnAgain",
                                                             support::kOwnTensors,
                                                             3,
                                                             sizeof(support::OwnPayload),
                                                             0};
             const AdvStepOperator* op = nullptr;
             return advstepRegisterOperator(&kTable, &op);
         },
         nullptr},
        {"advstepBeginPlan", &MakeOwn, &BeginAgain, nullptr},
        {"advstepFinishPlan", &BeginOwn, [](Scene& s) -> int { return Own(s).Finish(); },
         &DestroyOwn},
        {"advstepRunOperator", &MakeOwn, &RunOwn, nullptr},
        {"advstepRefuseCall", &MakeOwn,
         [](Scene& s) -> int {
             const int code = advstepRefuseCall(Own(s).call.op, ACLNN_ERR_PARAM_INVALID, "no");
             return code == ACLNN_ERR_PARAM_INVALID ? 0 : code;
         },
         nullptr},
        {"advstepReadScalar", &MakeOwnScalar,
         [](Scene& s) -> int {
             AdvStepScalarValue value{};
             return advstepReadScalar(static_cast<aclScalar*>(s.made), &value);
         },
         &EndMade<aclScalar, aclDestroyScalar>},
        {"advstepReadTensor", &MakeOwnTensor,
         [](Scene& s) -> int {
             AdvStepTensorView view{};
             return advstepReadTensor(static_cast<aclTensor*>(s.made), &view);
         },
         &EndMade<aclTensor, aclDestroyTensor>},
        {"advstepReadTensorList", &MakeOwnTensors,
         &ReadArray<const aclTensor*, aclTensorList, advstepReadTensorList>,
         &EndMade<aclTensorList, aclDestroyTensorList>},
        {"advstepReadScalarList", &MakeOwnScalars,
         &ReadArray<const aclScalar*, aclScalarList, advstepReadScalarList>,
         &EndMade<aclScalarList, aclDestroyScalarList>},
        {"advstepReadIntArray", &MakeOwnInts, &ReadArray<int64_t, aclIntArray, advstepReadIntArray>,
         &EndMade<aclIntArray, aclDestroyIntArray>},
        {"advstepReadFloatArray", &MakeOwnFloats,
         &ReadArray<float, aclFloatArray, advstepReadFloatArray>,
         &EndMade<aclFloatArray, aclDestroyFloatArray>},
        {"advstepReadBoolArray", &MakeOwnBools,
         &ReadArray<bool, aclBoolArray, advstepReadBoolArray>,
         &EndMade<aclBoolArray, aclDestroyBoolArray>},
        {"advstepTieGraphOperator", nullptr,
         [](Scene&) -> int { return advstepTieGraphOperator(&kOwnTie); }, nullptr},
        {"advstepFindGraphOperator",
         [](Scene&) -> int { return advstepTieGraphOperator(&kOwnTie); },
         [](Scene&) -> int {
             const AdvStepGraphOperator* tie = nullptr;
             return advstepFindGraphOperator("OwnTied", &tie);
         },
         nullptr},
        {"advstepDataTypeName", nullptr,
         [](Scene&) -> int { return advstepDataTypeName(ACL_FLOAT) != nullptr ? 0 : -1; }, nullptr},
        {"advstepFormatName", nullptr,
         [](Scene&) -> int { return advstepFormatName(ACL_FORMAT_ND) != nullptr ? 0 : -1; },
         nullptr},
    };
}

}  // namespace faults
