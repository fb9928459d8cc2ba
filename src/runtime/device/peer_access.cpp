// SPDX-License-Identifier: Apache-2.0
// Keeps the pairs of devices that may access each other.

#include "src/runtime/device/peer_access.h"

#include <iterator>
#include <mutex>
#include <set>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"

namespace advstep {
namespace {

// The pairs of a device and a peer that it may reach. They are never destroyed, as the devices are
// not.
struct Peers {
    std::mutex mutex;  // guards `enabled`; no lock is taken after it
    std::set<std::pair<const Device*, const Device*>> enabled;
};

Peers& ThePeers() {
    static NeverDestroyed<Peers> peers;
    return *peers;
}

}  // namespace

Status EnablePeerAccess(const Device& device, const Device& peer) {
    if (&device == &peer) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "peerDeviceId is {}, the current context's own device; expected another one",
                     peer.id());
    }
    Peers& peers = ThePeers();
    const std::lock_guard<std::mutex> lock(peers.mutex);
    return peers.enabled.emplace(&device, &peer).second
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "peerDeviceId is {}, to which device {} has access already; expected one "
                       "call per peer",
                       peer.id(), device.id());
}

Status DisablePeerAccess(const Device& device, const Device& peer) {
    Peers& peers = ThePeers();
    const std::lock_guard<std::mutex> lock(peers.mutex);
    return peers.enabled.erase({&device, &peer}) == 1
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "peerDeviceId is {}, to which device {} has no access; expected "
                       "aclrtDeviceEnablePeerAccess before",
                       peer.id(), device.id());
}

void ForgetPeerAccess(const Device& device) {
    Peers& peers = ThePeers();
    const std::lock_guard<std::mutex> lock(peers.mutex);
    for (auto pair = peers.enabled.begin(); pair != peers.enabled.end();) {
        const bool concerned = pair->first == &device || pair->second == &device;
        pair = concerned ? peers.enabled.erase(pair) : std::next(pair);
    }
}

}  // namespace advstep
