// SPDX-License-Identifier: Apache-2.0
// Tensors, scalars, arrays, lists and executors.
#include "faults/scene.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"

namespace faults {
namespace {

constexpr int64_t kDims[] = {2, 3, 4};
constexpr int64_t kValues[] = {1, 2, 3};
constexpr float kFloats[] = {1, 2, 3};
constexpr bool kBools[] = {true, false};

// What was made, or the code of memory.
template <class T>
int Keep(Scene& s, T* made) {
    s.made = made;
    return made != nullptr ? 0 : ACLNN_ERR_INNER;
}

aclTensor* Tensor(Scene& s) {
    return aclCreateTensor(kDims, 3, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, kDims, 3, s.device);
}
int MakeTensor(Scene& s) { return Keep(s, Tensor(s)); }
aclTensor* Made(Scene& s) { return static_cast<aclTensor*>(s.made); }
int DestroyTensor(Scene& s) { return aclDestroyTensor(Made(s)); }

template <aclnnStatus (*get)(const aclTensor*, int64_t**, uint64_t*)>
int Dims(Scene& s) {
    return get(Made(s), &s.dims, &s.number);
}
int FreeDims(Scene& s) {
    delete[] s.dims;
    return DestroyTensor(s);
}

int MakeScalar(Scene& s) {
    float value = 3;
    return Keep(s, aclCreateScalar(&value, ACL_FLOAT));
}
int MakeInts(Scene& s) { return Keep(s, aclCreateIntArray(kValues, 3)); }
int MakeFloats(Scene& s) { return Keep(s, aclCreateFloatArray(kFloats, 3)); }
int MakeBools(Scene& s) { return Keep(s, aclCreateBoolArray(kBools, 2)); }
int MakeTensors(Scene& s) {
    const aclTensor* const members[] = {s.tensor};
    return Keep(s, aclCreateTensorList(members, 1));
}
int PrepareTensors(Scene& s) {
    s.tensor = Tensor(s);
    return s.tensor != nullptr ? 0 : -1;
}
int MakeScalars(Scene& s) {
    const aclScalar* const members[] = {static_cast<aclScalar*>(s.more)};
    return Keep(s, aclCreateScalarList(members, 1));
}
int PrepareScalars(Scene& s) {
    const int code = MakeScalar(s);
    s.more = s.made;
    return code;
}

#define ADVSTEP_TYPED(function, type) \
    [](Scene& s) -> int { return function(static_cast<type*>(s.made)); }
#define ADVSTEP_SIZE(function, type) \
    [](Scene& s) -> int { return function(static_cast<type*>(s.made), &s.number); }

support::AdvanceStepBatch& TensorBatch(Scene& s) {
    return *static_cast<support::AdvanceStepBatch*>(s.batch.get());
}
int Plan(Scene& s) {
    s.batch = std::make_shared<support::AdvanceStepBatch>(support::MakeBatch(4, 3, 4, 5, 1));
    const int code = TensorBatch(s).Plan(&s.workspaceSize, &s.executor);
    s.tensor = TensorBatch(s).TensorAt(0);
    return code;
}
int PlanForGood(Scene& s) { return First({Plan(s), aclSetAclOpExecutorRepeatable(s.executor)}); }
int DestroyExecutor(Scene& s) { return aclDestroyAclOpExecutor(s.executor); }

template <aclnnStatus (*set)(aclOpExecutor*, const size_t, aclTensor*, void*)>
int SetAddress(Scene& s) {
    return set(s.executor, 0, s.tensor, TensorBatch(s).Address(0));
}
// Which no operator supports.
template <aclnnStatus (*set)(aclOpExecutor*, size_t, const size_t, aclTensorList*, void*)>
int SetDynamic(Scene& s) {
    auto* const list = static_cast<aclTensorList*>(s.device);  // not looked at
    const int code = set(s.executor, 0, 0, list, s.device);
    return code == ACLNN_ERR_PARAM_INVALID ? 0 : code;
}

}  // namespace

std::vector<Call> TensorCalls() {
    return {
        {"aclCreateTensor", nullptr, &MakeTensor, &DestroyTensor},
        {"aclDestroyTensor", &MakeTensor, &DestroyTensor, nullptr},
        {"aclInitTensor", &MakeTensor,
         [](Scene& s) -> int {
             return aclInitTensor(Made(s), kDims, 3, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, kDims, 3,
                                  s.device);
         },
         &DestroyTensor},
        {"aclGetViewShape", &MakeTensor, &Dims<&aclGetViewShape>, &FreeDims},
        {"aclGetStorageShape", &MakeTensor, &Dims<&aclGetStorageShape>, &FreeDims},
        {"aclGetViewStrides", &MakeTensor, &Dims<&aclGetViewStrides>, &FreeDims},
        {"aclGetViewOffset", &MakeTensor,
         [](Scene& s) -> int {
             return aclGetViewOffset(Made(s), reinterpret_cast<int64_t*>(s.host));
         },
         &DestroyTensor},
        {"aclGetFormat", &MakeTensor,
         [](Scene& s) -> int {
             return aclGetFormat(Made(s), reinterpret_cast<aclFormat*>(s.host));
         },
         &DestroyTensor},
        {"aclGetDataType", &MakeTensor,
         [](Scene& s) -> int {
             return aclGetDataType(Made(s), reinterpret_cast<aclDataType*>(s.host));
         },
         &DestroyTensor},
        {"aclSetRawTensorAddr", &MakeTensor,
         [](Scene& s) -> int { return aclSetRawTensorAddr(Made(s), s.device); }, &DestroyTensor},
        {"aclGetRawTensorAddr", &MakeTensor,
         [](Scene& s) -> int { return aclGetRawTensorAddr(Made(s), &s.more); }, &DestroyTensor},

        {"aclCreateScalar", nullptr, &MakeScalar, ADVSTEP_TYPED(aclDestroyScalar, aclScalar)},
        {"aclDestroyScalar", &MakeScalar, ADVSTEP_TYPED(aclDestroyScalar, aclScalar), nullptr},
        {"aclCreateIntArray", nullptr, &MakeInts, ADVSTEP_TYPED(aclDestroyIntArray, aclIntArray)},
        {"aclDestroyIntArray", &MakeInts, ADVSTEP_TYPED(aclDestroyIntArray, aclIntArray), nullptr},
        {"aclGetIntArraySize", &MakeInts, ADVSTEP_SIZE(aclGetIntArraySize, aclIntArray),
         ADVSTEP_TYPED(aclDestroyIntArray, aclIntArray)},
        {"aclCreateFloatArray", nullptr, &MakeFloats,
         ADVSTEP_TYPED(aclDestroyFloatArray, aclFloatArray)},
        {"aclDestroyFloatArray", &MakeFloats, ADVSTEP_TYPED(aclDestroyFloatArray, aclFloatArray),
         nullptr},
        {"aclGetFloatArraySize", &MakeFloats, ADVSTEP_SIZE(aclGetFloatArraySize, aclFloatArray),
         ADVSTEP_TYPED(aclDestroyFloatArray, aclFloatArray)},
        {"aclCreateBoolArray", nullptr, &MakeBools,
         ADVSTEP_TYPED(aclDestroyBoolArray, aclBoolArray)},
        {"aclDestroyBoolArray", &MakeBools, ADVSTEP_TYPED(aclDestroyBoolArray, aclBoolArray),
         nullptr},
        {"aclGetBoolArraySize", &MakeBools, ADVSTEP_SIZE(aclGetBoolArraySize, aclBoolArray),
         ADVSTEP_TYPED(aclDestroyBoolArray, aclBoolArray)},
        {"aclCreateTensorList", &PrepareTensors, &MakeTensors,
         ADVSTEP_TYPED(aclDestroyTensorList, aclTensorList)},
        {"aclDestroyTensorList", &InTurn<PrepareTensors, MakeTensors>,
         ADVSTEP_TYPED(aclDestroyTensorList, aclTensorList), nullptr},
        {"aclGetTensorListSize", &InTurn<PrepareTensors, MakeTensors>,
         ADVSTEP_SIZE(aclGetTensorListSize, aclTensorList),
         ADVSTEP_TYPED(aclDestroyTensorList, aclTensorList)},
        {"aclCreateScalarList", &PrepareScalars, &MakeScalars,
         ADVSTEP_TYPED(aclDestroyScalarList, aclScalarList)},
        {"aclDestroyScalarList", &InTurn<PrepareScalars, MakeScalars>,
         ADVSTEP_TYPED(aclDestroyScalarList, aclScalarList), nullptr},
        {"aclGetScalarListSize", &InTurn<PrepareScalars, MakeScalars>,
         ADVSTEP_SIZE(aclGetScalarListSize, aclScalarList),
         ADVSTEP_TYPED(aclDestroyScalarList, aclScalarList)},

        {"aclSetAclOpExecutorRepeatable", &Plan,
         [](Scene& s) -> int { return aclSetAclOpExecutorRepeatable(s.executor); },
         &DestroyExecutor},
        {"aclDestroyAclOpExecutor", &PlanForGood, &DestroyExecutor, nullptr},
        {"aclSetTensorAddr", &PlanForGood, &SetAddress<&aclSetTensorAddr>, &DestroyExecutor},
        {"aclSetInputTensorAddr", &PlanForGood, &SetAddress<&aclSetInputTensorAddr>,
         &DestroyExecutor},
        {"aclSetOutputTensorAddr", &PlanForGood, &SetAddress<&aclSetOutputTensorAddr>,
         &DestroyExecutor},
        {"AclSetTensorAddr", &PlanForGood, &SetAddress<&AclSetTensorAddr>, &DestroyExecutor},
        {"AclSetInputTensorAddr", &PlanForGood, &SetAddress<&AclSetInputTensorAddr>,
         &DestroyExecutor},
        {"AclSetOutputTensorAddr", &PlanForGood, &SetAddress<&AclSetOutputTensorAddr>,
         &DestroyExecutor},
        {"aclSetDynamicTensorAddr", &PlanForGood, &SetDynamic<&aclSetDynamicTensorAddr>,
         &DestroyExecutor},
        {"aclSetDynamicInputTensorAddr", &PlanForGood, &SetDynamic<&aclSetDynamicInputTensorAddr>,
         &DestroyExecutor},
        {"aclSetDynamicOutputTensorAddr", &PlanForGood, &SetDynamic<&aclSetDynamicOutputTensorAddr>,
         &DestroyExecutor},
        {"AclSetDynamicTensorAddr", &PlanForGood, &SetDynamic<&AclSetDynamicTensorAddr>,
         &DestroyExecutor},
        {"AclSetDynamicInputTensorAddr", &PlanForGood, &SetDynamic<&AclSetDynamicInputTensorAddr>,
         &DestroyExecutor},
        {"AclSetDynamicOutputTensorAddr", &PlanForGood, &SetDynamic<&AclSetDynamicOutputTensorAddr>,
         &DestroyExecutor},
    };
}

}  // namespace faults
