// SPDX-License-Identifier: Apache-2.0
// The importing side: asks the exporting process for the pages of a key.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/memory/descriptor.h"
#include "src/runtime/memory/share_protocol.h"

namespace advstep {

/// Pages of an exporting process. They stay valid when that process ends.
struct ShareGrant {
    ShareKey key = 0;
    Descriptor file;
    Descriptor lease;  // closed after the last use of the pages
    uint64_t offset = 0;
    size_t bytes = 0;
    uint64_t inner = 0;
    size_t length = 0;
    int32_t device = 0;
};

constexpr std::chrono::milliseconds kMostForAnAnswer{10000};  // of a stopped process, for instance

/// Asks for the pages of a key. `argument` is the name of the argument that has it. 107000: the
/// key is of no export that stands, or its process has ended. 207006: the exporting process has
/// not listed this one. 507899: that process does not answer. 207001: no descriptor is free.
Status FetchShared(ShareKind kind, ShareKey key, const char* argument, ShareGrant* grant,
                   std::chrono::milliseconds most = kMostForAnAnswer);

}  // namespace advstep
