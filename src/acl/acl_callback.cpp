// SPDX-License-Identifier: Apache-2.0
// Callbacks that subscribed threads run.
#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/commands/callbacks.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/ticket.h"

using namespace advstep;

namespace {

// `argument` is the name of the argument that has the thread.
Status Subscribe(uint64_t thread, const char* argument, aclrtStream stream) {
    if (thread == 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "{} is 0; expected a thread's pthread_self()",
                     argument);
    }
    StreamRef found;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
    return TheCallbacks().Subscribe(thread, found);
}

Status Unsubscribe(uint64_t thread, const char* argument, aclrtStream stream) {
    StreamRef found;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
    return TheCallbacks().Unsubscribe(thread, argument, found);
}

Status Process(int32_t timeout) {
    WaitLimit limit;
    if (!MakeWaitLimit(timeout, ACL_ERROR_RT_REPORT_TIMEOUT, &limit).ok()) {
        return Error(ACL_ERROR_INVALID_PARAM,
                     "timeout is {}; expected at least 1 ms, or -1 for ever", timeout);
    }
    return TheCallbacks().Process(limit);
}

}  // namespace

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
    return AclBoundary("aclrtSubscribeReport",
                       [&] { return Subscribe(threadId, "threadId", stream); });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
    return AclBoundary("aclrtUnSubscribeReport",
                       [&] { return Unsubscribe(threadId, "threadId", stream); });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
    return AclBoundary("aclrtLaunchCallback", [&]() -> Status {
        if (fn == nullptr) {
            return Error(ACL_ERROR_INVALID_PARAM, "fn is null; expected a function");
        }
        if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "blockType is {}; expected ACL_CALLBACK_NO_BLOCK 0 or "
                         "ACL_CALLBACK_BLOCK 1",
                         static_cast<int>(blockType));
        }
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return TheCallbacks().Launch(fn, userData, blockType == ACL_CALLBACK_BLOCK, found);
    });
}

aclError aclrtProcessReport(int32_t timeout) {
    return AclBoundary("aclrtProcessReport", [&] { return Process(timeout); });
}

aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
    return AclBoundary("aclrtSubscribeHostFunc",
                       [&] { return Subscribe(hostFuncThreadId, "hostFuncThreadId", exeStream); });
}

aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
    return AclBoundary("aclrtUnSubscribeHostFunc", [&] {
        return Unsubscribe(hostFuncThreadId, "hostFuncThreadId", exeStream);
    });
}

aclError aclrtProcessHostFunc(int32_t timeout) {
    return AclBoundary("aclrtProcessHostFunc", [&] { return Process(timeout); });
}
