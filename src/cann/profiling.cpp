// SPDX-License-Identifier: Apache-2.0
// The aclprof calls, libmsprofiler: they check what they are given and record nothing. The first
// start or configuration of a profiler says so in the log.

#include <atomic>
#include <new>

#include "acl/acl.h"
#include "src/cann/boundary.h"

using namespace advstep::cann;

namespace {

// What clients get from the two calls that create something. They know the address alone.
struct ProfilerObject {};

void SayThatNothingIsRecorded(const char* call) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true, std::memory_order_relaxed)) {
        aclAppLog(ACL_WARNING, call, "libmsprofiler", 0,
                  "profiling is accepted and records nothing; ADVANCE_STEP_TRACE writes a trace");
    }
}

void* Create(const char* call) {
    auto* const object = new (std::nothrow) ProfilerObject;
    if (object == nullptr) {
        advstepRecordFailure(call, ACL_ERROR_BAD_ALLOC, "the host is out of memory");
    }
    return object;
}

aclError Destroy(const char* call, const char* argument, const void* object) {
    return Boundary(call, [&]() -> Outcome {
        if (object == nullptr) {
            return Null(argument);
        }
        delete static_cast<const ProfilerObject*>(object);
        return {};
    });
}

aclError Accept(const char* call, const char* argument, const void* given) {
    return Boundary(call, [&]() -> Outcome {
        if (given == nullptr) {
            return Null(argument);
        }
        SayThatNothingIsRecorded(call);
        return {};
    });
}

aclError RefuseFeatures(const char* call) {
    return advstepRecordFailure(call, ACL_ERROR_API_NOT_SUPPORT,
                                "there is no profiler whose features could be listed; expected no "
                                "use of it");
}

}  // namespace

extern "C" {

ADVSTEP_API aclError aclprofInit(const char* profilerResultPath, size_t) {
    return Accept("aclprofInit", "profilerResultPath", profilerResultPath);
}

ADVSTEP_API aclError aclprofSetConfig(int32_t, const char* config, size_t) {
    return Accept("aclprofSetConfig", "config", config);
}

ADVSTEP_API void* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums, int32_t,
                                      const void*, uint64_t) {
    if (deviceIdList == nullptr && deviceNums > 0) {
        Boundary("aclprofCreateConfig", [] { return Null("deviceIdList"); });
        return nullptr;
    }
    return Create("aclprofCreateConfig");
}

ADVSTEP_API aclError aclprofDestroyConfig(const void* profilerConfig) {
    return Destroy("aclprofDestroyConfig", "profilerConfig", profilerConfig);
}

ADVSTEP_API aclError aclprofStart(const void* profilerConfig) {
    return Accept("aclprofStart", "profilerConfig", profilerConfig);
}

ADVSTEP_API aclError aclprofStop(const void* profilerConfig) {
    return Accept("aclprofStop", "profilerConfig", profilerConfig);
}

ADVSTEP_API aclError aclprofFinalize(void) { return ACL_SUCCESS; }

ADVSTEP_API void* aclprofCreateStepInfo(void) { return Create("aclprofCreateStepInfo"); }

ADVSTEP_API void aclprofDestroyStepInfo(void* stepInfo) {
    delete static_cast<ProfilerObject*>(stepInfo);
}

ADVSTEP_API aclError aclprofGetStepTimestamp(void* stepInfo, int32_t, void*) {
    return Accept("aclprofGetStepTimestamp", "stepInfo", stepInfo);
}

ADVSTEP_API aclError aclprofGetSupportedFeatures(size_t*, void**) {
    return RefuseFeatures("aclprofGetSupportedFeatures");
}

ADVSTEP_API aclError aclprofGetSupportedFeaturesV2(size_t*, void**) {
    return RefuseFeatures("aclprofGetSupportedFeaturesV2");
}

}  // extern "C"
