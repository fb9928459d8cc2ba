// SPDX-License-Identifier: Apache-2.0
/// Devices, contexts, streams, events and memory of the emulated machine.
///
/// Rules for every call below:
///   - A call returns ACL_ERROR_INVALID_PARAM for a null out-pointer or handle, unless its
///     description says otherwise.
///   - A call returns ACL_ERROR_RT_INVALID_HANDLE for a handle that was destroyed, is of another
///     kind or is not of this library, unless its description says otherwise.
///   - A call marked [context] returns ACL_ERROR_RT_CONTEXT_NULL if the thread has no current
///     context. If it takes a stream, NULL denotes the current context's default stream.
///   - A host function must not wait for itself: a call that would do so returns
///     ACL_ERROR_RT_FEATURE_NOT_SUPPORT. Such calls are synchronisations, asynchronous copies of
///     pageable memory, aclmdlRIExecute, aclrtDeviceTaskAbort, aclrtFreeWithDevSync,
///     aclrtHostUnregister, an aclrtMapMem that has to wait, and calls that destroy a stream or
///     context or end a device or the runtime; also aclrtSetDevice and aclrtCreateContext for a
///     device whose reset waits for that function.
///   - A call that takes a stream returns ACL_ERROR_RT_STREAM_CONTEXT for a stream of another
///     context.
///   - A call that queues work returns ACL_ERROR_RT_RESOURCE_ALLOC_FAIL if the stream holds as many
///     tasks as the setting ADVANCE_STEP_QUEUE allows.
///   - A call that fails writes no output argument; aclGetRecentErrMsg() returns the reason.
///   - Every call may be made from any thread.
#ifndef ADVSTEP_ACL_ACL_RT_H_
#define ADVSTEP_ACL_ACL_RT_H_

#include "acl/rt/binary.h"
#include "acl/rt/callback.h"
#include "acl/rt/context.h"
#include "acl/rt/copy.h"
#include "acl/rt/device.h"
#include "acl/rt/device_fault.h"
#include "acl/rt/device_status.h"
#include "acl/rt/event.h"
#include "acl/rt/exception.h"
#include "acl/rt/host_memory.h"
#include "acl/rt/identity.h"
#include "acl/rt/kernel_args.h"
#include "acl/rt/kernel_launch.h"
#include "acl/rt/memory.h"
#include "acl/rt/memory_config.h"
#include "acl/rt/model_ri.h"
#include "acl/rt/notify.h"
#include "acl/rt/options.h"
#include "acl/rt/refused.h"
#include "acl/rt/resource_limit.h"
#include "acl/rt/shared_memory.h"
#include "acl/rt/shared_sync.h"
#include "acl/rt/stream.h"
#include "acl/rt/timeout.h"
#include "acl/rt/virtual_memory.h"

#endif  /* ADVSTEP_ACL_ACL_RT_H_ */
