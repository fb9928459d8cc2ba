// SPDX-License-Identifier: Apache-2.0
// Calls on executors, except phase two.
#include "aclnn/acl_meta.h"

#include <vector>

#include "src/aclnn/executor.h"
#include "src/aclnn/host_launch.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"

using namespace advstep;

namespace {

using State = aclOpExecutor::State;

Status RequireExecutor(const aclOpExecutor* executor) {
    return executor != nullptr
               ? RequireOwnExecutor(executor)
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

const char* WordOf(Count count) { return count == Count::kAll ? "a tensor" : "an in/out tensor"; }

Status SetKernelAddress(aclOpExecutor* executor, size_t index, void* addr, Count count) {
    const int32_t position = FindTensor(*executor, index, count);
    if (position < 0) {
        return Error(ACLNN_ERR_PARAM_INVALID, "index is {}; expected that of {} of {}", index,
                     WordOf(count), CallOf(*executor));
    }
    if (!executor->tensors[position].isPresent) {
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "index is {}, that of {}, which the call left out; expected that of a "
                     "tensor of the call",
                     index, executor->slots[position].name);
    }
    executor->key = PlanKey();  // the plan has changed
    uint8_t* const before = executor->tensors[position].address;
    const auto storage = reinterpret_cast<uintptr_t>(addr);  // any number
    const auto offset = static_cast<uintptr_t>(executor->tensors[position].offsetBytes);
    executor->SetAddress(position, reinterpret_cast<uint8_t*>(storage == 0 ? 0 : storage + offset));
    LookAtAddresses(executor);
    Status overlaps = CheckOverlaps(*executor);
    if (!overlaps.ok()) {
        executor->SetAddress(position, before);
        LookAtAddresses(executor);
    }
    return overlaps;
}

// The argument of a host operator that an index selects, a tensor or a list. The tensors of a plan
// are in the order of their arguments.
struct HostArgument {
    size_t first = 0;  // place in the plan
    size_t end = 0;    // first == end: there is none

    bool Exists() const { return first < end; }
};

bool Selects(const std::vector<HostTensor>& tensors, const HostArgument& argument, size_t* index,
             Count count) {
    if (count == Count::kAll) {
        return tensors[argument.first].argument == *index;
    }
    for (size_t place = argument.first; place < argument.end; ++place) {
        if (tensors[place].IsWritten()) {
            return (*index)-- == 0;
        }
    }
    return false;
}

HostArgument FindArgument(const std::vector<HostTensor>& tensors, size_t index, Count count) {
    HostArgument argument;
    while (argument.first < tensors.size()) {
        argument.end = argument.first;
        while (argument.end < tensors.size() &&
               tensors[argument.end].argument == tensors[argument.first].argument) {
            ++argument.end;
        }
        if (Selects(tensors, argument, &index, count)) {
            return argument;
        }
        argument.first = argument.end;
    }
    return {};
}

Status SetHostTensor(aclOpExecutor* executor, size_t index, void* addr, Count count) {
    const std::vector<HostTensor>& tensors = executor->host->plan().tensors;
    const HostArgument argument = FindArgument(tensors, index, count);
    if (!argument.Exists()) {
        return Error(ACLNN_ERR_PARAM_INVALID, "index is {}; expected that of {} of this call of {}",
                     index, WordOf(count), CallOf(*executor));
    }
    if (tensors[argument.first].member >= 0) {
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "index is {}, that of a list of {}; expected that of a tensor, or a call for "
                     "members of lists",
                     index, CallOf(*executor));
    }
    SetHostAddress(executor, argument.first, addr);
    return {};
}

Status SetHostMember(aclOpExecutor* executor, size_t irIndex, size_t member, void* addr,
                     Count count) {
    const std::vector<HostTensor>& tensors = executor->host->plan().tensors;
    const HostArgument argument = FindArgument(tensors, irIndex, count);
    if (!argument.Exists() || tensors[argument.first].member < 0) {
        return Error(ACLNN_ERR_PARAM_INVALID, "irIndex is {}; expected that of a list of {}",
                     irIndex, CallOf(*executor));
    }
    for (size_t place = argument.first; place < argument.end; ++place) {
        if (static_cast<size_t>(tensors[place].member) == member) {
            SetHostAddress(executor, place, addr);
            return {};
        }
    }
    return Error(ACLNN_ERR_PARAM_INVALID,
                 "relativeIndex is {}; expected that of a tensor of list {} of {}", member, irIndex,
                 CallOf(*executor));
}

// The body of the calls that change an address. `set(executor)` is called for a live executor.
template <typename Set>
aclnnStatus Change(const char* call, aclOpExecutor* executor, const void* argument,
                   const char* name, Set&& set) {
    return AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireExecutor(executor));
        ADVSTEP_RETURN_IF_ERROR(RequireTensor(argument, name));
        return executor->state.load(std::memory_order_acquire) == State::kFree ? SpentError()
                                                                               : set();
    });
}

aclnnStatus SetAddress(const char* call, aclOpExecutor* executor, size_t index,
                       const aclTensor* tensor, void* addr, Count count) {
    return Change(call, executor, tensor, "tensor", [&] {
        return executor->host != nullptr ? SetHostTensor(executor, index, addr, count)
                                         : SetKernelAddress(executor, index, addr, count);
    });
}

aclnnStatus SetMember(const char* call, aclOpExecutor* executor, size_t irIndex, size_t member,
                      const aclTensorList* tensors, void* addr, Count count) {
    return Change(call, executor, tensors, "tensors", [&] {
        return executor->host != nullptr
                   ? SetHostMember(executor, irIndex, member, addr, count)
                   : Error(ACLNN_ERR_PARAM_INVALID,
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

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                    const size_t relativeIndex, aclTensorList* tensors,
                                    void* addr) {
    return SetMember("aclSetDynamicTensorAddr", executor, irIndex, relativeIndex, tensors, addr,
                     Count::kAll);
}
aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                         const size_t relativeIndex, aclTensorList* tensors,
                                         void* addr) {
    return SetMember("aclSetDynamicInputTensorAddr", executor, irIndex, relativeIndex, tensors,
                     addr, Count::kAll);
}
aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                          const size_t relativeIndex, aclTensorList* tensors,
                                          void* addr) {
    return SetMember("aclSetDynamicOutputTensorAddr", executor, irIndex, relativeIndex, tensors,
                     addr, Count::kWritten);
}
aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                    const size_t relativeIndex, aclTensorList* tensors,
                                    void* addr) {
    return SetMember("AclSetDynamicTensorAddr", executor, irIndex, relativeIndex, tensors, addr,
                     Count::kAll);
}
aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                         const size_t relativeIndex, aclTensorList* tensors,
                                         void* addr) {
    return SetMember("AclSetDynamicInputTensorAddr", executor, irIndex, relativeIndex, tensors,
                     addr, Count::kAll);
}
aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                          const size_t relativeIndex, aclTensorList* tensors,
                                          void* addr) {
    return SetMember("AclSetDynamicOutputTensorAddr", executor, irIndex, relativeIndex, tensors,
                     addr, Count::kWritten);
}
