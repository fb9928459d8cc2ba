// SPDX-License-Identifier: Apache-2.0
// The access of devices to each other's memory. Copies do not check it, because the emulated
// devices share the host's memory.

#pragma once

#include <set>
#include <utility>

#include "src/base/status.h"
#include "src/runtime/device/device.h"

namespace advstep {

/// 100000: the peer is the device itself.
Status CheckOther(const Device& device, const Device& peer);

/// Access that is enabled already stays enabled. 100000: the peer is the device itself.
Status EnablePeerAccess(const Device& device, const Device& peer);
/// 100000: the peer is the device itself. 107000: access to the peer is not enabled.
Status DisablePeerAccess(const Device& device, const Device& peer);

/// Returns whether the access of the device to the peer is enabled.
bool HasPeerAccess(const Device& device, const Device& peer);

/// The pairs of a device and a peer that it may reach.
using PeerPairs = std::set<std::pair<const Device*, const Device*>>;

/// Memory for the access of two devices to each other. A call takes it first, so that it cannot
/// fail once it has done the rest of its work.
class PeerAccessRoom {
 public:
    PeerAccessRoom();
    /// Enables the access in both directions, once. The devices are not the same.
    void Enable(const Device& one, const Device& other) noexcept;

 private:
    PeerPairs::node_type there_;
    PeerPairs::node_type back_;
};

/// Disables the access of the device to all peers. Their access to it stays enabled, so that they
/// can disable it.
void ForgetPeerAccess(const Device& device);

}  // namespace advstep
