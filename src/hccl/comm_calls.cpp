// SPDX-License-Identifier: Apache-2.0
// The calls of hccl_comm.h: communicators and their properties.

#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "acl/acl.h"
#include "hccl/hccl_comm.h"
#include "src/hccl/communicators.h"
#include "src/hccl/rank_table.h"
#include "src/hccl/setup.h"

using namespace advstep::hccl;

namespace {

std::atomic<int32_t> deterministic{0};  // what HcclSetConfig keeps

std::string RecentText() {
    const char* const message = aclGetRecentErrMsg();
    return message == nullptr ? "no message" : message;
}

Outcome CurrentDevice(int32_t* device) {
    return aclrtGetDevice(device) == ACL_SUCCESS ? Outcome{}
                                                 : Outcome{HCCL_E_RUNTIME, RecentText()};
}

// What every call needs that makes a communicator of the current device.
struct Making {
    Settings settings;
    CommConfig config;
    int32_t device = 0;

    Outcome Read(const HcclCommConfig* given) {
        ADVSTEP_HCCL_TRY(ReadSettings(&settings));
        if (given != nullptr) {
            ADVSTEP_HCCL_TRY(ReadCommConfig(*given, &config));
        }
        return CurrentDevice(&device);
    }
};

void HandOut(std::shared_ptr<Communicator> communicator, HcclComm* comm) {
    HookAborts();
    *comm = AddCommunicator(std::move(communicator));
}

Outcome InitAtRoot(uint32_t ranks, const HcclRootInfo* rootInfo, uint32_t rank,
                   const HcclCommConfig* config, HcclComm* comm) {
    if (rootInfo == nullptr) {
        return Null("rootInfo");
    }
    if (comm == nullptr) {
        return Null("comm");
    }
    MeetingPlace place;
    ADVSTEP_HCCL_TRY(ReadRootInfo(*rootInfo, &place));
    Making making;
    ADVSTEP_HCCL_TRY(making.Read(config));
    Newcomer newcomer;
    newcomer.ranks = ranks;
    newcomer.rank = rank;
    std::shared_ptr<Communicator> communicator;
    ADVSTEP_HCCL_TRY(
        MakeAt(place, newcomer, making.settings, making.config, making.device, &communicator));
    HandOut(std::move(communicator), comm);
    return {};
}

Outcome InitByTable(const char* clusterInfo, uint32_t rank, const HcclCommConfig* config,
                    HcclComm* comm) {
    if (clusterInfo == nullptr) {
        return Null("clusterInfo");
    }
    if (comm == nullptr) {
        return Null("comm");
    }
    Making making;
    ADVSTEP_HCCL_TRY(making.Read(config));
    RankTable table;
    ADVSTEP_HCCL_TRY(ReadRankTable(clusterInfo, making.settings, &table));
    if (rank == 0) {
        const Outcome opened = OpenMeeting(making.settings, &table.place);
        if (!opened.ok()) {
            return Error(opened.code, opened.message, "; HCCL_IF_BASE_PORT has another port");
        }
    }
    Newcomer newcomer;
    newcomer.ranks = table.ranks;
    newcomer.rank = rank;
    newcomer.waitForRoot = true;
    std::shared_ptr<Communicator> communicator;
    ADVSTEP_HCCL_TRY(MakeAt(table.place, newcomer, making.settings, making.config, making.device,
                            &communicator));
    HandOut(std::move(communicator), comm);
    return {};
}

Outcome CheckDevices(uint32_t count, const int32_t* devices) {
    uint32_t all = 0;
    if (aclrtGetDeviceCount(&all) != ACL_SUCCESS) {
        return {HCCL_E_RUNTIME, RecentText()};
    }
    std::set<int32_t> seen;
    for (uint32_t i = 0; i < count; ++i) {
        if (devices[i] < 0 || static_cast<uint32_t>(devices[i]) >= all ||
            !seen.insert(devices[i]).second) {
            return Error(HCCL_E_PARA, "devices[", i, "] is ", devices[i],
                         "; expected another one in [0, ", all, ") at each place");
        }
    }
    return count > 0 ? Outcome{} : Error(HCCL_E_PARA, "ndev is 0; expected at least 1");
}

Outcome ReadSubset(const Communicator& parent, uint32_t count, const uint32_t* ranks,
                   Subset* subset) {
    std::set<uint32_t> seen;
    if (count == 0 || count > parent.size()) {
        return Error(HCCL_E_PARA, "rankNum is ", count,
                     "; expected 1 <= rankNum <= ", parent.size());
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (ranks[i] >= parent.size() || !seen.insert(ranks[i]).second) {
            return Error(HCCL_E_PARA, "rankIds[", i, "] is ", ranks[i],
                         "; expected another rank of *comm at each place, less than ",
                         parent.size());
        }
    }
    if (subset->rank >= count || ranks[subset->rank] != parent.rank()) {
        return Error(HCCL_E_PARA, "subCommRankId is ", subset->rank,
                     "; expected the place of rank ", parent.rank(), " in rankIds");
    }
    subset->ranks.assign(ranks, ranks + count);
    return {};
}

}  // namespace

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
    return Boundary("HcclGetRootInfo", [&]() -> Outcome {
        if (rootInfo == nullptr) {
            return Null("rootInfo");
        }
        Settings settings;
        ADVSTEP_HCCL_TRY(ReadSettings(&settings));
        MeetingPlace place;
        place.endpoint.address = settings.address.empty() ? "127.0.0.1" : settings.address;
        place.key = RandomKey();
        ADVSTEP_HCCL_TRY(OpenMeeting(settings, &place));
        WriteRootInfo(place, rootInfo);
        return {};
    });
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                HcclComm* comm) {
    return Boundary("HcclCommInitRootInfo",
                    [&] { return InitAtRoot(nRanks, rootInfo, rank, nullptr, comm); });
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      const HcclCommConfig* config, HcclComm* comm) {
    return Boundary("HcclCommInitRootInfoConfig", [&] {
        return config == nullptr ? Null("config")
                                 : InitAtRoot(nRanks, rootInfo, rank, config, comm);
    });
}

HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm) {
    return Boundary("HcclCommInitClusterInfo",
                    [&] { return InitByTable(clusterInfo, rank, nullptr, comm); });
}

HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank,
                                         HcclCommConfig* config, HcclComm* comm) {
    return Boundary("HcclCommInitClusterInfoConfig", [&] {
        return config == nullptr ? Null("config") : InitByTable(clusterInfo, rank, config, comm);
    });
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
    return Boundary("HcclCommInitAll", [&]() -> Outcome {
        if (devices == nullptr) {
            return Null("devices");
        }
        if (comms == nullptr) {
            return Null("comms");
        }
        ADVSTEP_HCCL_TRY(CheckDevices(ndev, devices));
        Settings settings;
        ADVSTEP_HCCL_TRY(ReadSettings(&settings));
        std::vector<std::shared_ptr<Communicator>> made;
        ADVSTEP_HCCL_TRY(MakeForDevices({devices, devices + ndev}, settings, &made));
        for (uint32_t i = 0; i < ndev; ++i) {
            HandOut(std::move(made[i]), &comms[i]);
        }
        return {};
    });
}

HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds,
                                   uint64_t subCommId, uint32_t subCommRankId,
                                   HcclCommConfig* config, HcclComm* subComm) {
    return Boundary("HcclCreateSubCommConfig", [&]() -> Outcome {
        if (comm == nullptr) {
            return Null("comm");
        }
        if (rankIds == nullptr) {
            return Null("rankIds");
        }
        if (subComm == nullptr) {
            return Null("subComm");
        }
        std::shared_ptr<Communicator> parent;
        ADVSTEP_HCCL_TRY(FindCommunicator(*comm, &parent));
        Subset subset;
        subset.number = subCommId;
        subset.rank = subCommRankId;
        ADVSTEP_HCCL_TRY(ReadSubset(*parent, rankNum, rankIds, &subset));
        Settings settings;
        ADVSTEP_HCCL_TRY(ReadSettings(&settings));
        CommConfig read;
        if (config != nullptr) {
            ADVSTEP_HCCL_TRY(ReadCommConfig(*config, &read));
        }
        std::shared_ptr<Communicator> made;
        ADVSTEP_HCCL_TRY(MakeOfSubset(*parent, subset, settings, read, &made));
        HandOut(std::move(made), subComm);
        return {};
    });
}

HcclResult HcclCommDestroy(HcclComm comm) {
    return Boundary("HcclCommDestroy", [&]() -> Outcome {
        std::shared_ptr<Communicator> communicator;
        ADVSTEP_HCCL_TRY(RemoveCommunicator(comm, &communicator));
        communicator->Destroy();
        return {};
    });
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize) {
    return Boundary("HcclGetRankSize", [&]() -> Outcome {
        std::shared_ptr<Communicator> communicator;
        ADVSTEP_HCCL_TRY(FindCommunicator(comm, &communicator));
        if (rankSize == nullptr) {
            return Null("rankSize");
        }
        *rankSize = communicator->size();
        return {};
    });
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
    return Boundary("HcclGetRankId", [&]() -> Outcome {
        std::shared_ptr<Communicator> communicator;
        ADVSTEP_HCCL_TRY(FindCommunicator(comm, &communicator));
        if (rank == nullptr) {
            return Null("rank");
        }
        *rank = communicator->rank();
        return {};
    });
}

HcclResult HcclGetCommName(HcclComm comm, char* commName) {
    return Boundary("HcclGetCommName", [&]() -> Outcome {
        std::shared_ptr<Communicator> communicator;
        ADVSTEP_HCCL_TRY(FindCommunicator(comm, &communicator));
        if (commName == nullptr) {
            return Null("commName");
        }
        (void)std::strncpy(commName, communicator->group().name.c_str(), COMM_NAME_MAX_LENGTH);
        return {};
    });
}

HcclResult HcclCommGetHandleWithName(const char* commName, HcclComm* comm) {
    return Boundary("HcclCommGetHandleWithName", [&]() -> Outcome {
        if (commName == nullptr) {
            return Null("commName");
        }
        return comm == nullptr ? Null("comm") : FindCommunicator(std::string(commName), comm);
    });
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
    return Boundary("HcclGetCommAsyncError", [&]() -> Outcome {
        std::shared_ptr<Communicator> communicator;
        ADVSTEP_HCCL_TRY(FindCommunicator(comm, &communicator));
        if (asyncError == nullptr) {
            return Null("asyncError");
        }
        const Outcome failure = communicator->AsyncError();
        if (!failure.ok()) {
            (void)RecordOutcome("HcclGetCommAsyncError", failure.code, failure.message.c_str());
        }
        *asyncError = failure.code;
        return {};
    });
}

const char* HcclGetErrorString(HcclResult code) { return NameOf(code); }

uint32_t HcclGetCommConfigCapability(void) { return HCCL_COMM_CONFIG_RESERVED; }

HcclResult HcclSetConfig(HcclConfig config, union HcclConfigValue configValue) {
    return Boundary("HcclSetConfig", [&]() -> Outcome {
        if (config != HCCL_DETERMINISTIC) {
            return Error(HCCL_E_PARA, "config is ", static_cast<int>(config),
                         "; expected HCCL_DETERMINISTIC = 0");
        }
        if (configValue.value < 0 || configValue.value > 2) {
            return Error(HCCL_E_PARA, "configValue.value is ", configValue.value,
                         "; expected 0 to 2");
        }
        deterministic.store(configValue.value);
        return {};
    });
}

HcclResult HcclGetConfig(HcclConfig config, union HcclConfigValue* configValue) {
    return Boundary("HcclGetConfig", [&]() -> Outcome {
        if (configValue == nullptr) {
            return Null("configValue");
        }
        if (config != HCCL_DETERMINISTIC) {
            return Error(HCCL_E_PARA, "config is ", static_cast<int>(config),
                         "; expected HCCL_DETERMINISTIC = 0");
        }
        configValue->value = deterministic.load();
        return {};
    });
}
