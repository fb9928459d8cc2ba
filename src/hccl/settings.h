// SPDX-License-Identifier: Apache-2.0
// The environment variables of HCCL that have an effect.

#pragma once

#include <cstdint>
#include <string>

#include "src/hccl/outcome.h"

namespace advstep::hccl {

struct Settings {
    uint32_t connectSeconds = 120;   // HCCL_CONNECT_TIMEOUT
    uint32_t executeSeconds = 1836;  // HCCL_EXEC_TIMEOUT; 0: no limit
    uint16_t basePort = 60000;       // HCCL_IF_BASE_PORT
    std::string address;             // HCCL_IF_IP, or that of HCCL_SOCKET_IFNAME; "": none is set
};

/// Reads them. HCCL_E_PARA: one is wrong, which the message names. A program with other rights than
/// its caller reads none.
Outcome ReadSettings(Settings* settings);

}  // namespace advstep::hccl
