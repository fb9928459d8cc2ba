// SPDX-License-Identifier: Apache-2.0
// The model in plain loops.

#pragma once

#include <cstdint>
#include <vector>

#include "model.h"

namespace llama {

/// Returns the tokens that follow a prompt, the most likely one each time.
std::vector<int64_t> PlainTokens(const Model& model, const std::vector<int64_t>& prompt,
                                 int64_t count);

}  // namespace llama
