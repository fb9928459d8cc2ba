// SPDX-License-Identifier: Apache-2.0
// Options of the process, of contexts and of streams: system parameters, overflow, time limits.

#include <algorithm>
#include <new>

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/lifecycle/process_options.h"
#include "src/runtime/memory/copy.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream.h"

using namespace advstep;

namespace {

constexpr int64_t kMostDeterministic = 3;
constexpr int64_t kMostOther = 1;
constexpr size_t kOverflowStatusBytes = 64;
constexpr int kContextParameters = ACL_OPT_STRONG_CONSISTENCY + 1;

Status CheckParameter(aclSysParamOpt opt, int count) {
    const auto number = static_cast<int>(opt);
    return number >= 0 && number < count
               ? Status()
               : Error(ACL_ERROR_INVALID_PARAM,
                       "opt is {}; expected an aclSysParamOpt from 0 to {}", number, count - 1);
}

Status CheckParameterValue(aclSysParamOpt opt, int64_t value) {
    const int64_t most = opt == ACL_OPT_DETERMINISTIC ? kMostDeterministic : kMostOther;
    return value >= 0 && value <= most
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID, "value is {}; expected 0 to {}", value, most);
}

// Sets the limit, rounded up to whole units, of which there are at most 254. 0 means 254 units.
void SetTimeLimit(uint64_t microseconds) {
    constexpr uint64_t kUnit = ProcessOptions::kTimeoutUnit;
    constexpr uint64_t kMost = ProcessOptions::kMostTimeoutUnits;
    const uint64_t units = microseconds / kUnit + (microseconds % kUnit != 0 ? 1 : 0);
    TheProcessOptions().timeoutUnits.store(microseconds == 0 ? kMost : std::min(units, kMost));
}

uint64_t TimeLimit() {
    return TheProcessOptions().timeoutUnits.load() * ProcessOptions::kTimeoutUnit;
}

Status RequireAnyContext() {
    ContextRef current;
    return CurrentContext(&current);
}

// Queues a task that only keeps its place in the stream.
Status EnqueueEmptyTask(const StreamRef& stream, const char* name) {
    return stream.Enqueue(Work(sizeof(Task)), [name](void* memory) {
        auto* const task = new (memory) Task;
        task->name = name;
        task->type = &kTouchesNothing;
        task->run = [](const Task&) { return Status(); };
        return task;
    });
}

// Finds a stream that is not being captured.
Status FindFreeStream(aclrtStream stream, StreamRef* found) {
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, found));
    ADVSTEP_RETURN_IF_ERROR(found->Check());
    return found->CheckFree();
}

// No operator overflows, so the status is zeros.
aclError WriteOverflowStatus(const char* call, void* outputAddr, size_t outputSize,
                             aclrtStream stream) {
    return AclBoundary(call, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(outputAddr, "outputAddr"));
        if (outputSize != kOverflowStatusBytes) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "outputSize is {}; expected {}", outputSize,
                         kOverflowStatusBytes);
        }
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindFreeStream(stream, &target));
        const DeviceMemory& memory = TheDeviceMemory();
        const auto check = [&](CopySides* found) {
            return CheckFill(memory, outputAddr, "outputAddr", outputSize, found);
        };
        const uint64_t epoch = memory.epoch();
        CopySides sides;
        ADVSTEP_RETURN_IF_ERROR(check(&sides));
        const ContextRef* const context = LiveContext();
        const bool foreign = sides.ForeignTo(context != nullptr ? context->device : nullptr);
        const FillRange range{outputAddr, outputSize, foreign};
        const auto again = [&]() -> Status {
            CopySides now;
            ADVSTEP_RETURN_IF_ERROR(check(&now));
            return RefuseOther(sides, now);
        };
        Work work = WorkOf(range);
        work.memory = CheckedAt(memory.epochNow(), epoch, &again);
        return target.Enqueue(
            work, [&](void* record) { return FillTask::Make(record, outputAddr, 0, outputSize); });
    });
}

aclError ResetOverflowStatus(const char* call, aclrtStream stream) {
    return AclBoundary(call, [&]() -> Status {
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindFreeStream(stream, &target));
        return EnqueueEmptyTask(target, "overflow reset");
    });
}

}  // namespace

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
    return AclBoundary("aclrtGetSysParamOpt", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(value, "value"));
        ADVSTEP_RETURN_IF_ERROR(CheckParameter(opt, kProcessParameters));
        *value = TheProcessOptions().parameters[opt].load();
        return {};
    });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
    return AclBoundary("aclrtSetSysParamOpt", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckParameter(opt, kProcessParameters));
        ADVSTEP_RETURN_IF_ERROR(CheckParameterValue(opt, value));
        TheProcessOptions().parameters[opt].store(value);
        return {};
    });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
    return AclBoundary("aclrtCtxGetSysParamOpt", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(value, "value"));
        ADVSTEP_RETURN_IF_ERROR(CheckParameter(opt, kContextParameters));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        const int64_t set = current.context->parameters[opt].load();
        if (set == Context::kParameterNotSet) {
            return Error(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
                         "opt is {}, which the context has not set; expected "
                         "aclrtCtxSetSysParamOpt before",
                         static_cast<int>(opt));
        }
        *value = set;
        return {};
    });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
    return AclBoundary("aclrtCtxSetSysParamOpt", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckParameter(opt, kContextParameters));
        ADVSTEP_RETURN_IF_ERROR(CheckParameterValue(opt, value));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        current.context->parameters[opt].store(value);
        return {};
    });
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
    return AclBoundary("aclrtSetDeviceSatMode", [&]() -> Status {
        const auto number = static_cast<int>(mode);
        if (number != ACL_RT_OVERFLOW_MODE_SATURATION && number != ACL_RT_OVERFLOW_MODE_INFNAN) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "mode is {}; expected SATURATION 0 or INFNAN 1", number);
        }
        TheProcessOptions().saturationMode.store(number);
        return {};
    });
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
    return AclBoundary("aclrtGetDeviceSatMode", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(mode, "mode"));
        *mode = static_cast<aclrtFloatOverflowMode>(TheProcessOptions().saturationMode.load());
        return {};
    });
}

aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream) {
    return WriteOverflowStatus("aclrtGetOverflowStatus", outputAddr, outputSize, stream);
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
    return ResetOverflowStatus("aclrtResetOverflowStatus", stream);
}

aclError aclrtGetFloatOverflowStatus(void* outputAddr, uint64_t outputSize, aclrtStream stream) {
    return WriteOverflowStatus("aclrtGetFloatOverflowStatus", outputAddr, outputSize, stream);
}

aclError aclrtResetFloatOverflowStatus(aclrtStream stream) {
    return ResetOverflowStatus("aclrtResetFloatOverflowStatus", stream);
}

aclError aclrtNpuGetFloatOverFlowStatus(void* outputAddr, uint64_t outputSize, uint32_t,
                                        aclrtStream stream) {
    return WriteOverflowStatus("aclrtNpuGetFloatOverFlowStatus", outputAddr, outputSize, stream);
}

aclError aclrtNpuClearFloatOverFlowStatus(uint32_t, aclrtStream stream) {
    return ResetOverflowStatus("aclrtNpuClearFloatOverFlowStatus", stream);
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
    return AclBoundary("aclrtSetStreamOverflowSwitch", [&]() -> Status {
        if (flag > 1) {
            return Error(ACL_ERROR_INVALID_PARAM, "flag is {}; expected 0 or 1", flag);
        }
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindFreeStream(stream, &target));
        return target.Inspect([&](StreamIdentity& identity) {
            identity.attributes.overflowCheck = flag;
            return Status();
        });
    });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
    return AclBoundary("aclrtGetStreamOverflowSwitch", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(flag, "flag"));
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
        return target.Inspect([&](const StreamIdentity& identity) {
            *flag = identity.attributes.overflowCheck;
            return Status();
        });
    });
}

aclError aclrtSetOpExecuteTimeOut(uint32_t seconds) {
    constexpr uint64_t kMicroseconds = 1000000;
    SetTimeLimit(seconds * kMicroseconds);
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t ms) {
    constexpr uint64_t kMicroseconds = 1000;
    SetTimeLimit(ms * kMicroseconds);
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeoutUs, uint64_t* actualTimeout) {
    return AclBoundary("aclrtSetOpExecuteTimeOutV2", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(actualTimeout, "actualTimeout"));
        ADVSTEP_RETURN_IF_ERROR(RequireAnyContext());
        SetTimeLimit(timeoutUs);
        *actualTimeout = TimeLimit();
        return {};
    });
}

aclError aclrtGetOpTimeOutInterval(uint64_t* interval) {
    return AclBoundary("aclrtGetOpTimeOutInterval", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(interval, "interval"));
        ADVSTEP_RETURN_IF_ERROR(RequireAnyContext());
        *interval = ProcessOptions::kTimeoutUnit;
        return {};
    });
}

aclError aclrtGetOpExecuteTimeout(uint32_t* const timeoutMs) {
    return AclBoundary("aclrtGetOpExecuteTimeout", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(timeoutMs, "timeoutMs"));
        ADVSTEP_RETURN_IF_ERROR(RequireAnyContext());
        *timeoutMs = static_cast<uint32_t>(TimeLimit() / 1000);
        return {};
    });
}

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
    return AclBoundary("aclrtCmoAsync", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(src, "src"));
        if (size == 0) {
            return Error(ACL_ERROR_INVALID_PARAM, "size is 0; expected at least 1 byte");
        }
        const auto number = static_cast<int>(cmoType);
        if (number < ACL_RT_CMO_TYPE_PREFETCH || number > ACL_RT_CMO_TYPE_FLUSH) {
            return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "cmoType is {}; expected an aclrtCmoType", number);
        }
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
        return EnqueueEmptyTask(target, "cache operation");
    });
}
