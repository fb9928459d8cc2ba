/// Devices, contexts, streams, events and memory of the emulated machine.
///
/// Rules for every call below
///   - A null out-pointer or handle is ACL_ERROR_INVALID_PARAM, unless the call says otherwise.
///   - A destroyed, foreign or wrong-kind handle is ACL_ERROR_RT_INVALID_HANDLE.
///   - Calls marked [context] answer ACL_ERROR_RT_CONTEXT_NULL when the thread has no current
///     context, and take NULL for the current context's default stream where they take a stream.
///   - A call that would wait for the host function that makes it answers
///     ACL_ERROR_RT_FEATURE_NOT_SUPPORT: synchronisations, pageable asynchronous copies,
///     aclrtFreeWithDevSync, aclrtHostUnregister, an aclrtMapMem that has to wait, and those that
///     destroy a stream or context or end a device or the runtime; also aclrtSetDevice and
///     aclrtCreateContext for a device whose reset waits for that function.
///   - Calls that take a stream answer ACL_ERROR_RT_STREAM_CONTEXT for one of another context.
///   - On error no output argument is written and aclGetRecentErrMsg() says what was wrong.
///   - Every call may be made from any thread.
#ifndef ADVSTEP_ACL_ACL_RT_H_
#define ADVSTEP_ACL_ACL_RT_H_

#include "acl/rt/callback.h"
#include "acl/rt/context.h"
#include "acl/rt/copy.h"
#include "acl/rt/device.h"
#include "acl/rt/event.h"
#include "acl/rt/exception.h"
#include "acl/rt/identity.h"
#include "acl/rt/memory.h"
#include "acl/rt/model_ri.h"
#include "acl/rt/notify.h"
#include "acl/rt/resource_limit.h"
#include "acl/rt/stream.h"
#include "acl/rt/timeout.h"
#include "acl/rt/virtual_memory.h"

#endif  /* ADVSTEP_ACL_ACL_RT_H_ */
