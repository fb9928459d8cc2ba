// SPDX-License-Identifier: Apache-2.0
// The configuration of one communicator.

#pragma once

#include <cstdint>
#include <string>

#include "src/hccl/outcome.h"

namespace advstep::hccl {

/// The fields that have an effect.
struct CommConfig {
    std::string name;  // "": one is made
    bool hasTimeout = false;
    uint32_t executeSeconds = 0;  // if hasTimeout
};

/// Reads and checks as much as the head says that there is. HCCL_E_PARA: the head or a field is
/// wrong.
Outcome ReadCommConfig(const HcclCommConfig& config, CommConfig* read);

}  // namespace advstep::hccl
