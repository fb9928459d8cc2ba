#include "src/aclnn/run.h"

#include <string_view>

#include "src/aclnn/executor.h"
#include "src/runtime/current.h"
#include "src/runtime/launcher.h"

namespace advstep {
namespace {

using State = aclOpExecutor::State;

// A runtime failure under the operators' code; the message keeps the runtime's.
Status AsRuntimeError(const Status& status) {
    return Error(ACLNN_ERR_RUNTIME_ERROR, "runtime code {}: {}", status.code(), status.message());
}

Status CheckArguments(const aclOpExecutor& executor, const char* call, const void* workspace,
                      uint64_t workspaceSize) {
    if (std::string_view(executor.launch.program->call) != call) {
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "executor was planned for {}; expected one planned for {}",
                     executor.launch.program->call, call);
    }
    if (workspace == nullptr && workspaceSize > 0) {
        return Error(ACLNN_ERR_PARAM_NULLPTR,
                     "workspace is null with workspaceSize {}; expected device memory",
                     workspaceSize);
    }
    if (workspaceSize < executor.workspaceBytes) {
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "workspaceSize is {}; expected at least {} from phase one", workspaceSize,
                     executor.workspaceBytes);
    }
    for (int32_t index = 0; index < executor.tensorCount; ++index) {
        if (executor.Address(index) == nullptr) {
            return Error(ACLNN_ERR_PARAM_NULLPTR,
                         "{} has a null address; expected device memory by now",
                         executor.tensors[index].name);
        }
    }
    return {};
}

// Every tensor inside one allocation of the device. As long as nothing is freed, a check holds.
Status CheckMemory(aclOpExecutor* executor) {
    const DeviceMemory& memory = TheResources().memory;
    const uint64_t epoch = memory.epoch();
    if (executor->checkedEpoch == epoch) {
        return {};
    }
    for (int32_t index = 0; index < executor->tensorCount; ++index) {
        const PlannedTensor& tensor = executor->tensors[index];
        const uint8_t* const address = executor->Address(index);
        const auto bytes = static_cast<uint64_t>(tensor.extent.spanBytes());
        Allocation allocation;
        if (!memory.Find(address, &allocation) || allocation.kind != MemoryKind::kDevice ||
            allocation.device != executor->launch.device) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "{} is at {}, which lies in no allocation of device {}; expected memory "
                         "of aclrtMalloc there",
                         tensor.name, static_cast<const void*>(address),
                         executor->launch.device->id());
        }
        if (allocation.BytesFrom(address) < bytes) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "{} takes {} bytes at {}, where a device range of {} bytes is left; "
                         "expected it inside one allocation",
                         tensor.name, bytes, static_cast<const void*>(address),
                         allocation.BytesFrom(address));
        }
    }
    executor->checkedEpoch = epoch;
    return {};
}

Status Launch(aclOpExecutor* executor, aclrtStream stream) {
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    if (current.context->device != executor->launch.device) {
        return Error(ACL_ERROR_RT_STREAM_CONTEXT,
                     "executor was planned for device {}; expected the current context's device {}",
                     executor->launch.device->id(), current.context->device->id());
    }
    Launcher& launcher = TheLauncher();
    ADVSTEP_RETURN_IF_ERROR(launcher.CheckStream(target));
    ADVSTEP_RETURN_IF_ERROR(CheckMemory(executor));
    return launcher.Launch(target, executor->launch, executor->payload);
}

}  // namespace

Status PlanningDevice(const Device** device) {
    ContextRef current;
    const Status status = CurrentContext(&current);
    if (!status.ok()) {
        return AsRuntimeError(status);
    }
    *device = current.context->device;
    return {};
}

Status RunExecutor(const char* call, void* workspace, uint64_t workspaceSize,
                   aclOpExecutor* executor, aclrtStream stream) {
    if (executor == nullptr) {
        return Error(ACLNN_ERR_PARAM_NULLPTR, "executor is null; expected one of phase one");
    }
    // Spending it before anything else makes two uses at a time safe as well.
    State expected = State::kPlanned;
    const bool spent =
        executor->state.compare_exchange_strong(expected, State::kFree, std::memory_order_acq_rel);
    if (!spent && expected != State::kRepeatable) {
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "executor has been used or destroyed; expected a new one of phase one, or "
                     "aclSetAclOpExecutorRepeatable before its first use");
    }
    Status status = CheckArguments(*executor, call, workspace, workspaceSize);
    if (status.ok()) {
        status = Launch(executor, stream);
        if (!status.ok()) {
            status = AsRuntimeError(status);
        }
    }
    if (spent) {
        RecycleExecutor(executor);  // the queue has a copy
    }
    return status;
}

}  // namespace advstep
