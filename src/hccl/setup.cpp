// SPDX-License-Identifier: Apache-2.0
// Makes communicators.

#include "src/hccl/setup.h"

#include <cstdio>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "src/hccl/quiet_thread.h"

namespace advstep::hccl {
namespace {

constexpr char kRootInfoMagic[8] = {'A', 'D', 'V', 'H', 'C', 'C', 'L', '1'};

// The bytes of a HcclRootInfo.
struct RootInfo {
    char magic[sizeof kRootInfoMagic];
    GroupKey key;
    char address[64];
    uint32_t port;
};
static_assert(sizeof(RootInfo) <= sizeof(HcclRootInfo));

std::string NameOf(const GroupKey& key) {
    char text[64];
    (void)std::snprintf(text, sizeof text, "hccl_%016llx%016llx",
                        static_cast<unsigned long long>(key[0]),
                        static_cast<unsigned long long>(key[1]));
    return text;
}

uint32_t ExecuteSeconds(const Settings& settings, const CommConfig& config) {
    return config.hasTimeout ? config.executeSeconds : settings.executeSeconds;
}

}  // namespace

void WriteRootInfo(const MeetingPlace& place, HcclRootInfo* rootInfo) {
    RootInfo info{};
    std::memcpy(info.magic, kRootInfoMagic, sizeof info.magic);
    info.key = place.key;
    (void)std::strncpy(info.address, place.endpoint.address.c_str(), sizeof info.address - 1);
    info.port = place.endpoint.port;
    std::memset(rootInfo, 0, sizeof *rootInfo);
    std::memcpy(rootInfo->internal, &info, sizeof info);
}

Outcome ReadRootInfo(const HcclRootInfo& rootInfo, MeetingPlace* place) {
    RootInfo info{};
    std::memcpy(&info, rootInfo.internal, sizeof info);
    if (std::memcmp(info.magic, kRootInfoMagic, sizeof info.magic) != 0 || info.port == 0 ||
        info.port > UINT16_MAX || std::memchr(info.address, 0, sizeof info.address) == nullptr) {
        return Error(HCCL_E_PARA, "rootInfo is not of HcclGetRootInfo; expected all its bytes");
    }
    place->key = info.key;
    place->endpoint = {info.address, static_cast<uint16_t>(info.port)};
    return {};
}

Outcome MakeAt(const MeetingPlace& place, const Newcomer& newcomer, const Settings& settings,
               const CommConfig& config, int32_t device,
               std::shared_ptr<Communicator>* communicator) {
    Newcomer named = newcomer;
    named.name = config.name;
    Communicator::Origin origin;
    Socket listener;
    ADVSTEP_HCCL_TRY(Join(settings, place, named, &origin.group, &listener));
    if (origin.group.name.empty()) {
        // The key is a secret, so the name is made of another one.
        origin.group.name = NameOf(DeriveKey(place.key, "name", 4));
    }
    origin.lobby = std::make_shared<Lobby>(std::move(listener));
    origin.device = device;
    origin.executeSeconds = ExecuteSeconds(settings, config);
    origin.connectSeconds = settings.connectSeconds;
    return Communicator::Make(std::move(origin), communicator);
}

Outcome MakeForDevices(const std::vector<int32_t>& devices, const Settings& settings,
                       std::vector<std::shared_ptr<Communicator>>* communicators) {
    MeetingPlace place;
    place.endpoint.address = "127.0.0.1";
    place.key = RandomKey();
    ADVSTEP_HCCL_TRY(OpenMeeting(settings, &place));
    Settings local = settings;
    local.address = place.endpoint.address;
    std::vector<Outcome> outcomes(devices.size());
    communicators->resize(devices.size());
    std::vector<std::thread> threads;
    threads.reserve(devices.size());
    Outcome started;
    for (uint32_t rank = 0; rank < devices.size() && started.ok(); ++rank) {
        const auto make = [&, rank] {
            try {
                Newcomer newcomer;
                newcomer.ranks = static_cast<uint32_t>(devices.size());
                newcomer.rank = rank;
                outcomes[rank] =
                    MakeAt(place, newcomer, local, {}, devices[rank], &(*communicators)[rank]);
            } catch (const std::exception&) {
                outcomes[rank] = {HCCL_E_MEMORY, {}};
            }
        };
        std::thread thread;
        started = StartQuietThread(make, &thread);
        if (started.ok()) {
            threads.push_back(std::move(thread));
        }
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (Outcome& outcome : outcomes) {
        ADVSTEP_HCCL_TRY(std::move(outcome));
    }
    return started;
}

Outcome MakeOfSubset(const Communicator& parent, const Subset& subset, const Settings& settings,
                     const CommConfig& config, std::shared_ptr<Communicator>* communicator) {
    Communicator::Origin origin = parent.origin();
    Group& group = origin.group;
    group.rank = subset.rank;
    group.key = DeriveKey(parent.group().key, &subset.number, sizeof subset.number);
    group.key = DeriveKey(group.key, subset.ranks.data(), subset.ranks.size() * sizeof(uint32_t));
    group.name = config.name.empty() ? NameOf(DeriveKey(group.key, "name", 4)) : config.name;
    group.members.clear();
    for (const uint32_t rank : subset.ranks) {
        group.members.push_back(parent.group().members[rank]);
    }
    origin.executeSeconds = ExecuteSeconds(settings, config);
    origin.connectSeconds = settings.connectSeconds;
    return Communicator::Make(std::move(origin), communicator);
}

}  // namespace advstep::hccl
