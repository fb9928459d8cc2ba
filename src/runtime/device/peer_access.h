// SPDX-License-Identifier: Apache-2.0
// The access of devices to each other's memory. Copies do not check it, because the emulated
// devices share the host's memory.

#pragma once

#include "src/base/status.h"
#include "src/runtime/device/device.h"

namespace advstep {

/// 107000: the peer is the device itself, or access to it is enabled already.
Status EnablePeerAccess(const Device& device, const Device& peer);
/// 107000: access to the peer is not enabled.
Status DisablePeerAccess(const Device& device, const Device& peer);

/// Disables the access of the device to all peers, and their access to it.
void ForgetPeerAccess(const Device& device);

}  // namespace advstep
