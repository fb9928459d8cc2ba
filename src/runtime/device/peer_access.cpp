// SPDX-License-Identifier: Apache-2.0
// Keeps the pairs of devices that may access each other.

#include "src/runtime/device/peer_access.h"

#include <iterator>
#include <mutex>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"

namespace advstep {
namespace {

// They are never destroyed, as the devices are not.
struct Peers {
    std::mutex mutex;  // guards `enabled`; no lock is taken after it
    PeerPairs enabled;
};

Peers& ThePeers() {
    static NeverDestroyed<Peers> peers;
    return *peers;
}

}  // namespace

Status CheckOther(const Device& device, const Device& peer) {
    return &device != &peer
               ? Status()
               : Error(ACL_ERROR_INVALID_PARAM,
                       "peerDeviceId is {}, the device itself; expected another device", peer.id());
}

Status EnablePeerAccess(const Device& device, const Device& peer) {
    ADVSTEP_RETURN_IF_ERROR(CheckOther(device, peer));
    Peers& peers = ThePeers();
    const std::lock_guard<std::mutex> lock(peers.mutex);
    peers.enabled.emplace(&device, &peer);
    return {};
}

Status DisablePeerAccess(const Device& device, const Device& peer) {
    ADVSTEP_RETURN_IF_ERROR(CheckOther(device, peer));
    Peers& peers = ThePeers();
    const std::lock_guard<std::mutex> lock(peers.mutex);
    return peers.enabled.erase({&device, &peer}) == 1
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "peerDeviceId is {}, to which device {} has no access; expected "
                       "aclrtDeviceEnablePeerAccess before",
                       peer.id(), device.id());
}

bool HasPeerAccess(const Device& device, const Device& peer) {
    Peers& peers = ThePeers();
    const std::lock_guard<std::mutex> lock(peers.mutex);
    return peers.enabled.count({&device, &peer}) == 1;
}

PeerAccessRoom::PeerAccessRoom() {
    PeerPairs pairs;
    there_ = pairs.extract(pairs.emplace(nullptr, nullptr).first);
    back_ = pairs.extract(pairs.emplace(nullptr, nullptr).first);
}

void PeerAccessRoom::Enable(const Device& one, const Device& other) noexcept {
    there_.value() = {&one, &other};
    back_.value() = {&other, &one};
    Peers& peers = ThePeers();
    const std::lock_guard<std::mutex> lock(peers.mutex);
    peers.enabled.insert(std::move(there_));
    peers.enabled.insert(std::move(back_));
}

void ForgetPeerAccess(const Device& device) {
    Peers& peers = ThePeers();
    const std::lock_guard<std::mutex> lock(peers.mutex);
    for (auto pair = peers.enabled.begin(); pair != peers.enabled.end();) {
        pair = pair->first == &device ? peers.enabled.erase(pair) : std::next(pair);
    }
}

}  // namespace advstep
