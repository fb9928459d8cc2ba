// SPDX-License-Identifier: Apache-2.0
// Checks the executor, the workspace and the memory of a call, and launches it.

#include "src/aclnn/run.h"

#include <array>
#include <memory>
#include <string_view>

#include "src/aclnn/executor.h"
#include "src/base/live_objects.h"
#include "src/base/thread_memory.h"
#include "src/runtime/commands/launcher.h"
#include "src/runtime/lifecycle/process_options.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/resource_limit.h"
#include "src/runtime/stream/stream.h"

namespace advstep {
namespace {

// A range that the calling thread has found: `bytes` from `address` on are usable by the device, as
// long as the epoch of DeviceMemory is the same. It is plain data, so that calls from global
// destructors can still use it.
struct KnownRange {
    uintptr_t address;
    uint64_t epoch;
    const Device* device;
    uint64_t bytes;
};

constexpr size_t kKnownRanges = 64;  // of one thread: more than the tensors of a decode step

using KnownRanges = std::array<KnownRange, kKnownRanges>;

// Returns the place of an address in KnownRanges.
size_t PlaceOf(uintptr_t address) {
    constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // spreads addresses that differ in few bits
    constexpr int kTopBits = 58;
    static_assert(kKnownRanges == size_t{1} << (64 - kTopBits));
    return (address * kGolden) >> kTopBits;
}

Status FindRange(const Device& device, const char* name, const void* address, uint64_t bytes,
                 uint64_t* left) {
    Allocation allocation;
    if (!TheDeviceMemory().Find(address, &allocation) || !allocation.UsableOnDevice() ||
        (allocation.OfDevice() && allocation.device != &device)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is at {}, which lies in no allocation of device {}; expected device or "
                     "registered memory there",
                     name, address, device.id());
    }
    *left = allocation.BytesFrom(address);
    if (*left < bytes) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} takes {} bytes at {}, where a device range of {} bytes is left; expected "
                     "it inside one allocation",
                     name, bytes, address, *left);
    }
    return {};
}

using State = aclOpExecutor::State;

// Returns a failure of the runtime with the code of operators. The message contains the runtime's
// code.
Status AsRuntimeError(const Status& status) {
    return Error(ACLNN_ERR_RUNTIME_ERROR, "runtime code {}: {}", status.code(), status.message());
}

Status NullAddress(const aclOpExecutor& executor) {
    int32_t index = 0;
    while (executor.tensors[index].address != nullptr || executor.tensors[index].spanBytes == 0) {
        ++index;
    }
    return Error(ACLNN_ERR_PARAM_NULLPTR, "{} has a null address; expected device memory by now",
                 executor.slots[index].name);
}

Status OtherOwner(const aclOpExecutor& executor, const char* call) {
    const char* const planned = executor.launch.program->call;
    return std::string_view(planned) != call
               ? Error(ACLNN_ERR_PARAM_INVALID,
                       "executor was planned for {}; expected one planned for {}", planned, call)
               : Error(ACLNN_ERR_PARAM_INVALID,
                       "executor was planned for the {} of another library; expected one planned "
                       "for that of this library",
                       planned);
}

// Checks that the workspace shares no byte with a tensor: the plan there would be overwritten. The
// workspace of the last successful run needs no other look while no address has changed.
Status CheckWorkspaceApart(const aclOpExecutor& executor, const void* workspace) {
    if (executor.workspaceAt < 0 ||
        (executor.workspaceEpoch != 0 && executor.workspace == workspace)) {
        return {};
    }
    const auto* const begin = static_cast<const uint8_t*>(workspace);
    const auto bytes = static_cast<int64_t>(executor.workspaceBytes);
    for (int32_t index = 0; index < executor.tensorCount; ++index) {
        const PlannedTensor& tensor = executor.tensors[index];
        if (Overlaps(begin, bytes, tensor.address, tensor.extent)) {
            return Error(ACLNN_ERR_PARAM_INVALID,
                         "workspace at {} ({} bytes) overlaps {} at {} ({} bytes); expected memory "
                         "of its own",
                         workspace, bytes, executor.slots[index].name,
                         static_cast<const void*>(tensor.address), tensor.spanBytes);
        }
    }
    return {};
}

Status CheckArguments(const aclOpExecutor& executor, const char* call, const void* owner,
                      const void* workspace, uint64_t workspaceSize) {
    if (executor.owner != owner) {
        return OtherOwner(executor, call);
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
    return executor.known ? CheckWorkspaceApart(executor, workspace) : NullAddress(executor);
}

// Checks the workspace, and stores its address in the payload.
Status BindWorkspace(aclOpExecutor* executor, void* workspace) {
    if (executor->workspaceAt < 0) {
        return {};
    }
    const uint64_t epoch = TheDeviceMemory().epoch();
    if (executor->workspaceEpoch == epoch && executor->workspace == workspace) {
        return {};
    }
    ADVSTEP_RETURN_IF_ERROR(
        CheckRange(*executor->launch.device, "workspace", workspace, executor->workspaceBytes));
    const uint8_t* const aligned = AlignedWorkspace(workspace);
    std::memcpy(executor->payload + executor->workspaceAt, &aligned, sizeof(aligned));
    executor->workspace = workspace;
    executor->workspaceEpoch = epoch;  // read before the check: a later free makes it outdated
    return {};
}

Status CheckMemory(aclOpExecutor* executor, void* workspace) {
    ADVSTEP_RETURN_IF_ERROR(CheckTensorRanges(executor));
    return BindWorkspace(executor, workspace);
}

// The memory that the kernel uses, which each replay checks again.
struct LaunchUses {
    const aclOpExecutor* executor;
    const void* workspace;
};

void ListUses(const void* source, std::vector<Use>* uses) {
    const auto& launch = *static_cast<const LaunchUses*>(source);
    const aclOpExecutor& executor = *launch.executor;
    for (int32_t index = 0; index < executor.tensorCount; ++index) {
        const PlannedTensor& tensor = executor.tensors[index];
        if (tensor.spanBytes > 0) {
            uses->push_back({Use::Kind::kMemory, executor.slots[index].name,
                             executor.tensors[index].address,
                             static_cast<uint64_t>(tensor.spanBytes)});
        }
    }
    if (executor.workspaceAt >= 0) {
        uses->push_back(
            {Use::Kind::kMemory, "workspace", launch.workspace, executor.workspaceBytes});
    }
}

Status OtherDevice(const aclOpExecutor& executor) {
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    return Error(ACL_ERROR_RT_STREAM_CONTEXT,
                 "executor was planned for device {}; expected the current context's device {}",
                 executor.launch.device->id(), current.device->id());
}

Status Launch(aclOpExecutor* executor, void* workspace, aclrtStream stream) {
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
    const ContextRef* const current = LiveContext();
    if (current == nullptr || current->device != executor->launch.device) {
        return OtherDevice(*executor);
    }
    Launcher& launcher = TheLauncher();
    if (Status memory = CheckMemory(executor, workspace); !memory.ok()) {
        ADVSTEP_RETURN_IF_ERROR(launcher.CheckStream(target));  // a bad stream is reported first
        return memory;
    }
    const LaunchUses uses{executor, workspace};
    Work work(KernelTask::BytesFor(executor->launch));
    work.role = Work::Role::kLaunch;
    work.listUses = &ListUses;
    work.source = &uses;
    // At most kMostTimeoutUnits, 254.
    executor->launch.timeLimit =
        static_cast<int32_t>(TheProcessOptions().timeoutUnits.load(std::memory_order_relaxed));
    return launcher.Launch(target, executor->launch, executor->payload, work);
}

struct Recycle {
    void operator()(aclOpExecutor* used) const { RecycleExecutor(used); }
};

}  // namespace

Status RequireOutput(const void* pointer, const char* argument) {
    return pointer != nullptr
               ? Status()
               : Error(ACLNN_ERR_PARAM_NULLPTR, "{} is null; expected a pointer", argument);
}

Status PlanningDevice(const Device** device) {
    if (const ContextRef* const current = LiveContext(); current != nullptr) {
        *device = current->device;
        return {};
    }
    ContextRef made;
    ADVSTEP_RETURN_IF_ERROR(AsRuntimeError(CurrentContext(&made)));
    *device = made.device;
    return {};
}

int32_t PlanningVectorCores(const Device& device) {
    return static_cast<int32_t>(CoresInEffect(device, ACL_RT_DEV_RES_VECTOR_CORE));
}

AdvStepOperatorEnvironment EnvironmentOf(const Device& device) {
    const Settings& settings = device.settings();
    return {sizeof(AdvStepOperatorEnvironment),
            static_cast<int32_t>(settings.conformance),
            static_cast<int32_t>(settings.onDivergence),
            PlanningVectorCores(device),
            settings.soc.vectorCores,
            settings.soc.unifiedBufferBytes};
}

Status RunExecutor(const char* call, const void* owner, void* workspace, uint64_t workspaceSize,
                   aclOpExecutor* executor, aclrtStream stream) {
    if (executor == nullptr) {
        return Error(ACLNN_ERR_PARAM_NULLPTR, "executor is null; expected one of phase one");
    }
    // The executor is spent first, so that only one of two threads can use it.
    State expected = executor->state.load(std::memory_order_acquire);
    const bool spent =
        expected == State::kPlanned &&
        executor->state.compare_exchange_strong(expected, State::kFree, std::memory_order_acq_rel);
    if (!spent && expected != State::kRepeatable) {
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "executor has been used or destroyed; expected a new one of phase one, or "
                     "aclSetAclOpExecutorRepeatable before its first use");
    }
    if (spent) {
        ForgetObject(ObjectKind::kExecutor, executor);
    }
    // A spent executor returns to the pool, after a failure too. The queued launch has copies.
    const std::unique_ptr<aclOpExecutor, Recycle> usedUp(spent ? executor : nullptr);
    ADVSTEP_RETURN_IF_ERROR(CheckArguments(*executor, call, owner, workspace, workspaceSize));
    const Status status = Launch(executor, workspace, stream);
    return status.ok() ? Status() : AsRuntimeError(status);
}

Status CheckRange(const Device& device, const char* name, const void* address, uint64_t bytes) {
    uint64_t left = 0;
    return FindRange(device, name, address, bytes, &left);
}

Status CheckTensorRanges(aclOpExecutor* executor) {
    const uint64_t epoch = TheDeviceMemory().epoch();
    if (executor->checkedEpoch == epoch) {
        return {};
    }
    const Device* const device = executor->launch.device;
    KnownRanges* const ranges = ThreadMemory<KnownRanges>();
    for (int32_t index = 0; index < executor->tensorCount; ++index) {
        const PlannedTensor& tensor = executor->tensors[index];
        const auto address = reinterpret_cast<uintptr_t>(tensor.address);
        const auto bytes = static_cast<uint64_t>(tensor.spanBytes);
        if (!executor->aligned && address % static_cast<uintptr_t>(tensor.itemSize) != 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "{} is at {:#x}; expected a multiple of {}",
                         executor->slots[index].name, address, tensor.itemSize);
        }
        KnownRange unknown{};
        KnownRange& known = ranges != nullptr ? (*ranges)[PlaceOf(address)] : unknown;
        if (bytes == 0 || (known.address == address && known.epoch == epoch &&
                           known.device == device && known.bytes >= bytes)) {
            continue;
        }
        uint64_t left = 0;
        ADVSTEP_RETURN_IF_ERROR(
            // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): every plan has its device
            FindRange(*device, executor->slots[index].name, tensor.address, bytes, &left));
        known = {address, epoch, device, left};  // the epoch was read before the check
    }
    executor->checkedEpoch = epoch;
    return {};
}

}  // namespace advstep
