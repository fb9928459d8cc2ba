// SPDX-License-Identifier: Apache-2.0
// The ways in which communicators come about.

#pragma once

#include <cstdint>

#include "src/hccl/comm_config.h"
#include "src/hccl/communicator.h"
#include "src/hccl/rendezvous.h"
#include "src/hccl/settings.h"

namespace advstep::hccl {

/// Writes what the ranks need to meet, or reads it. HCCL_E_PARA: it is none of HcclGetRootInfo.
void WriteRootInfo(const MeetingPlace& place, HcclRootInfo* rootInfo);
Outcome ReadRootInfo(const HcclRootInfo& rootInfo, MeetingPlace* place);

/// Makes a communicator of the ranks that meet at a place.
Outcome MakeAt(const MeetingPlace& place, const Newcomer& newcomer, const Settings& settings,
               const CommConfig& config, int32_t device,
               std::shared_ptr<Communicator>* communicator);

/// Makes one for each of the devices of this process.
Outcome MakeForDevices(const std::vector<int32_t>& devices, const Settings& settings,
                       std::vector<std::shared_ptr<Communicator>>* communicators);

/// Which ranks of a communicator another one is made of.
struct Subset {
    std::vector<uint32_t> ranks;
    uint64_t number = 0;  // tells subsets of the same ranks apart
    uint32_t rank = 0;    // of this process in the new one
};
Outcome MakeOfSubset(const Communicator& parent, const Subset& subset, const Settings& settings,
                     const CommConfig& config, std::shared_ptr<Communicator>* communicator);

}  // namespace advstep::hccl
