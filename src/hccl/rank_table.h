// SPDX-License-Identifier: Apache-2.0
// Rank tables: files that say which device of which server is which rank.

#pragma once

#include <cstdint>
#include <string>

#include "src/hccl/rendezvous.h"
#include "src/hccl/settings.h"

namespace advstep::hccl {

struct RankTable {
    uint32_t ranks = 0;
    MeetingPlace place;  // where rank 0 listens, and a key of the contents
};

/// Reads a file. HCCL_E_OPEN_FILE_FAILURE: it cannot be read. HCCL_E_PARA: it is no rank table.
Outcome ReadRankTable(const char* path, const Settings& settings, RankTable* table);

}  // namespace advstep::hccl
