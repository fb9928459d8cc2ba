// SPDX-License-Identifier: Apache-2.0
// Conditional tasks of models, and the captures of their sub-graphs.
#include "acl/acl_rt.h"
#include "src/acl/capture_mode.h"
#include "src/base/boundary.h"
#include "src/runtime/capture/capture_part.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

namespace {

Status CheckTask(const aclmdlRICondTaskParams& params, uint32_t flags) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(params.handle, "params.handle"));
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(params.modelRIArray, "params.modelRIArray"));
    constexpr uint32_t kMostSubGraphs = 65536;
    const auto type = static_cast<uint32_t>(params.type);
    if (type > ACL_MODEL_RI_COND_TYPE_SWITCH) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "params.type is {}; expected ACL_MODEL_RI_COND_TYPE_IF 0, WHILE 1 or SWITCH 2",
                     type);
    }
    const uint32_t most = type == ACL_MODEL_RI_COND_TYPE_IF      ? 2
                          : type == ACL_MODEL_RI_COND_TYPE_WHILE ? 1
                                                                 : kMostSubGraphs;
    if (params.size == 0 || params.size > most) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "params.size is {}; expected 1 to {} sub-graphs for type {}", params.size,
                     most, type);
    }
    return flags == 0 ? Status()
                      : Error(ACL_ERROR_RT_PARAM_INVALID, "flags is {:#x}; expected 0", flags);
}

}  // namespace

aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue,
                                  aclmdlRICondHandleFlag flag, aclmdlRICondHandle* handle) {
    return AclBoundary("aclmdlRICondHandleCreate", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(modelRI, "modelRI"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        const auto number = static_cast<uint32_t>(flag);
        if (number > ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "flag is {}; expected 0 or ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT 1",
                         number);
        }
        Handle made = 0;
        ADVSTEP_RETURN_IF_ERROR(
            CreateCondition(ToHandle(modelRI), defaultLaunchValue, number != 0, &made));
        *handle = ToPointer(made);
        return {};
    });
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr) {
    return AclBoundary("aclmdlRICondHandleGetCondPtr", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(ptr, "ptr"));
        return FindConditionVariable(handle, ptr);
    });
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags) {
    return AclBoundary("aclmdlRIAddCondTask", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(CheckTask(params, flags));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return AddConditionalTask(params, found);
    });
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI,
                                       aclmdlRICaptureMode mode) {
    return AclBoundary("aclmdlRICaptureToModelRIBegin", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(modelRI, "modelRI"));
        ADVSTEP_RETURN_IF_ERROR(CheckCaptureMode(mode, "mode"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return BeginPartCapture(found, modelRI, mode);
    });
}
