// Which device may reach which other one's memory. Copies do not ask: the emulated devices share
// the host's memory.
#pragma once

#include "src/base/status.h"
#include "src/runtime/device/device.h"

namespace advstep {

/// 107000: peer is the device itself, or enabled already.
Status EnablePeerAccess(const Device& device, const Device& peer);
/// 107000: not enabled.
Status DisablePeerAccess(const Device& device, const Device& peer);

/// What the device reaches, and who reaches it.
void ForgetPeerAccess(const Device& device);

}  // namespace advstep
