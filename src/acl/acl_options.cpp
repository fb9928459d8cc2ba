// SPDX-License-Identifier: Apache-2.0
// Options of the process and of contexts: system parameters, float overflow, time limits.
#include <algorithm>

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/lifecycle/process_options.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

namespace {

constexpr int64_t kMostDeterministic = 3;
constexpr int64_t kMostOther = 1;
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
