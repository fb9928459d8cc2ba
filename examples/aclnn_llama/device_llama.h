// SPDX-License-Identifier: Apache-2.0
// The model on the device: aclnn calls on a stream, a paged KV cache, and captured decode steps.

#pragma once

#include <cstdint>
#include <vector>

#include "device_tensor.h"
#include "model.h"

namespace llama {

enum class Decoding { kCallByCall, kReplayed };

/// Returns the tokens that follow each prompt, the most likely one each time.
std::vector<std::vector<int64_t>> DeviceTokens(const Model& model,
                                               const std::vector<std::vector<int64_t>>& prompts,
                                               int64_t count, Decoding decoding,
                                               aclrtStream stream);

}  // namespace llama
