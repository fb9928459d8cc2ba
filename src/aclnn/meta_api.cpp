// SPDX-License-Identifier: Apache-2.0
// Calls on executors, except phase two.
#include "aclnn/acl_meta.h"
#include "src/aclnn/executor.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"

using namespace advstep;

namespace {

using State = aclOpExecutor::State;

Status RequireExecutor(const aclOpExecutor* executor) {
    return executor != nullptr
               ? Status()
               : Error(ACLNN_ERR_INNER_NULLPTR, "executor is null; expected one of phase one");
}

Status RequireTensor(const void* tensor, const char* argument) {
    return tensor != nullptr
               ? Status()
               : Error(ACLNN_ERR_INNER_NULLPTR, "{} is null; expected a pointer", argument);
}

Status SpentError() {
    return Error(ACLNN_ERR_PARAM_INVALID,
                 "executor has been used or destroyed; expected a live executor");
}

enum class Count { kAll, kWritten };

// Returns the position of the index-th tensor among those that `count` selects; -1 if there is
// none.
int32_t FindTensor(const aclOpExecutor& executor, size_t index, Count count) {
    for (int32_t position = 0; position < executor.tensorCount; ++position) {
        if (count == Count::kWritten && !executor.slots[position].written) {
            continue;
        }
        if (index-- == 0) {
            return position;
        }
    }
    return -1;
}

aclnnStatus SetAddress(const char* call, aclOpExecutor* executor, size_t index,
                       const aclTensor* tensor, void* addr, Count count) {
    return AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireExecutor(executor));
        ADVSTEP_RETURN_IF_ERROR(RequireTensor(tensor, "tensor"));
        if (executor->state.load(std::memory_order_acquire) == State::kFree) {
            return SpentError();
        }
        const int32_t position = FindTensor(*executor, index, count);
        if (position < 0) {
            return Error(ACLNN_ERR_PARAM_INVALID, "index is {}; expected that of {} of {}", index,
                         count == Count::kAll ? "a tensor" : "an in/out tensor",
                         executor->launch.program->call);
        }
        if (!executor->tensors[position].isPresent) {
            return Error(ACLNN_ERR_PARAM_INVALID,
                         "index is {}, that of {}, which the call left out; expected that of a "
                         "tensor of the call",
                         index, executor->slots[position].name);
        }
        executor->key = PlanKey();  // the plan has changed
        uint8_t* const before = executor->tensors[position].address;
        auto* const storage = static_cast<uint8_t*>(addr);
        executor->SetAddress(position, storage == nullptr
                                           ? nullptr
                                           : storage + executor->tensors[position].offsetBytes);
        LookAtAddresses(executor);
        Status overlaps = CheckOverlaps(*executor);
        if (!overlaps.ok()) {
            executor->SetAddress(position, before);
            LookAtAddresses(executor);
        }
        return overlaps;
    });
}

aclnnStatus RefuseDynamic(const char* call, const aclOpExecutor* executor,
                          const aclTensorList* tensors) {
    return AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireExecutor(executor));
        ADVSTEP_RETURN_IF_ERROR(RequireTensor(tensors, "tensors"));
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "executor has no tensor list; expected an operator that takes one");
    });
}

}  // namespace

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
    return AclnnBoundary("aclSetAclOpExecutorRepeatable", ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireExecutor(executor));
        State expected = State::kPlanned;
        const bool changed = executor->state.compare_exchange_strong(expected, State::kRepeatable,
                                                                     std::memory_order_acq_rel);
        return changed || expected == State::kRepeatable ? Status() : SpentError();
    });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
    return AclnnBoundary("aclDestroyAclOpExecutor", ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireExecutor(executor));
        if (executor->state.exchange(State::kFree, std::memory_order_acq_rel) == State::kFree) {
            return SpentError();
        }
        ForgetObject(ObjectKind::kExecutor, executor);
        RecycleExecutor(executor);
        return {};
    });
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
    return SetAddress("aclSetTensorAddr", executor, index, tensor, addr, Count::kAll);
}
aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
    return SetAddress("aclSetInputTensorAddr", executor, index, tensor, addr, Count::kAll);
}
aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
    return SetAddress("aclSetOutputTensorAddr", executor, index, tensor, addr, Count::kWritten);
}
aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
    return SetAddress("AclSetTensorAddr", executor, index, tensor, addr, Count::kAll);
}
aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
    return SetAddress("AclSetInputTensorAddr", executor, index, tensor, addr, Count::kAll);
}
aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
    return SetAddress("AclSetOutputTensorAddr", executor, index, tensor, addr, Count::kWritten);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t, const size_t,
                                    aclTensorList* tensors, void*) {
    return RefuseDynamic("aclSetDynamicTensorAddr", executor, tensors);
}
aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t, const size_t,
                                         aclTensorList* tensors, void*) {
    return RefuseDynamic("aclSetDynamicInputTensorAddr", executor, tensors);
}
aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t, const size_t,
                                          aclTensorList* tensors, void*) {
    return RefuseDynamic("aclSetDynamicOutputTensorAddr", executor, tensors);
}
aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t, const size_t,
                                    aclTensorList* tensors, void*) {
    return RefuseDynamic("AclSetDynamicTensorAddr", executor, tensors);
}
aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t, const size_t,
                                         aclTensorList* tensors, void*) {
    return RefuseDynamic("AclSetDynamicInputTensorAddr", executor, tensors);
}
aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t, const size_t,
                                          aclTensorList* tensors, void*) {
    return RefuseDynamic("AclSetDynamicOutputTensorAddr", executor, tensors);
}
