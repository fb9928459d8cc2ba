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

/// Reads options; warns of those that are unknown. On failure *parsed stays.
Outcome ParseOptions(const OptionMap& options, Options* parsed);

}  // namespace advstep::graph
