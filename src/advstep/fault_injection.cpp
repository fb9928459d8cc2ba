// SPDX-License-Identifier: Apache-2.0
// The calls by which a program requests faults of allocations, launches and streams.

#include "advance_step/fault_injection.h"
#include "src/base/boundary.h"
#include "src/runtime/commands/stream_fault.h"
#include "src/runtime/faults/fault_injection.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream.h"

using namespace advstep;

namespace {

Status RequireCode(aclError code) {
    return code != 0 ? Status()
                     : Error(ACL_ERROR_RT_PARAM_INVALID, "code is 0; expected that of a failure");
}

}  // namespace

aclError advstepFailAllocations(uint32_t kinds, uint64_t first, uint64_t count) {
    return AclBoundary("advstepFailAllocations", [&]() -> Status {
        if (kinds == 0 || (kinds & ~uint32_t{ADVSTEP_ALLOCATION_ANY}) != 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "kinds is {:#x}; expected AdvStepAllocationKind, one or more", kinds);
        }
        FailAllocations(kinds, first, count);
        return {};
    });
}

aclError advstepFailLaunch(uint64_t n, aclError code, AdvStepFaultPlace place) {
    return AclBoundary("advstepFailLaunch", [&]() -> Status {
        const auto number = static_cast<int>(place);
        if (number != ADVSTEP_FAULT_AT_CALL && number != ADVSTEP_FAULT_IN_STREAM) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "place is {}; expected an AdvStepFaultPlace",
                         number);
        }
        if (n > 0) {
            ADVSTEP_RETURN_IF_ERROR(RequireCode(code));
        }
        FailLaunch(n, code,
                   number == ADVSTEP_FAULT_AT_CALL ? LaunchFaultPlace::kAtCall
                                                   : LaunchFaultPlace::kInStream);
        return {};
    });
}

aclError advstepFailStream(aclrtStream stream, aclError code) {
    return AclBoundary("advstepFailStream", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireCode(code));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return EnqueueFailure(found, code);
    });
}

aclError advstepDelayStream(aclrtStream stream, uint64_t microseconds) {
    return AclBoundary("advstepDelayStream", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return EnqueueDelay(found, microseconds);
    });
}

aclError advstepHoldStream(aclrtStream stream, uint64_t* hold) {
    return AclBoundary("advstepHoldStream", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(hold, "hold"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return EnqueueHold(found, hold);
    });
}

aclError advstepReleaseHold(uint64_t hold) {
    return AclBoundary("advstepReleaseHold", [&] { return ReleaseHold(hold); });
}

aclError advstepClearFaults(void) {
    return AclBoundary("advstepClearFaults", [&]() -> Status {
        ClearThreadFaults();
        ReleaseAllHolds();
        return {};
    });
}

aclError advstepReadFaultCounts(AdvStepFaultCounts* counts) {
    return AclBoundary("advstepReadFaultCounts", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(counts, "counts"));
        const FaultCounts read = ReadFaultCounts();
        *counts = {read.allocations, read.failedAllocations, read.launches, read.failedLaunches};
        return {};
    });
}
