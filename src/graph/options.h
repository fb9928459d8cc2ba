// SPDX-License-Identifier: Apache-2.0
// The options that graph mode knows.

#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "graph/ascend_string.h"
#include "src/graph/outcome.h"

namespace advstep::graph {

using OptionMap = std::map<ge::AscendString, ge::AscendString>;

struct Options {
    std::optional<int32_t> deviceId;
};

/// Reads options, and warns of unknown ones. *parsed is unchanged on failure.
Outcome ParseOptions(const OptionMap& options, Options* parsed);

}  // namespace advstep::graph
