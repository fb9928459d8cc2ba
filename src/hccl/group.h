// SPDX-License-Identifier: Apache-2.0
// What the ranks of a communicator know of each other.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/hccl/socket.h"

namespace advstep::hccl {

/// Sixteen bytes that only the ranks of a communicator know. Connections begin with them.
using GroupKey = std::array<uint64_t, 2>;

/// Returns random bytes.
GroupKey RandomKey();
/// Returns a key that all who know these values make alike, and nobody else.
GroupKey DeriveKey(const GroupKey& key, const void* data, size_t bytes);

struct Group {
    GroupKey key{};
    std::string name;
    uint32_t rank = 0;
    std::vector<Endpoint> members;  // where each rank listens

    uint32_t size() const { return static_cast<uint32_t>(members.size()); }
};

}  // namespace advstep::hccl
