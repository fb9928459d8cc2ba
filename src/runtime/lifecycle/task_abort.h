// SPDX-License-Identifier: Apache-2.0
// The abort of all work of a device, and its callbacks.

#pragma once

#include <cstdint>

#include "acl/acl_rt.h"
#include "src/base/status.h"

namespace advstep {

class Device;

/// Drops the pending work of the device's streams and waits for the running work, for `timeout`
/// milliseconds or for ever if that is 0. 107000: the timeout is too long. 107019: work was running
/// longer. 507000: a callback returned an error. 207000: a task calls this, for which it might
/// wait.
Status AbortDeviceTasks(const Device& device, uint32_t timeout);

/// Registers a callback; null removes it. 107000: there is none of that name to remove.
Status SetTaskAbortCallback(const char* name, aclrtDeviceTaskAbortCallback callback, void* args);
void ForgetTaskAbortCallbacks();

}  // namespace advstep
