// SPDX-License-Identifier: Apache-2.0
// Two operators of a paged KV cache, which check every index before they use one.

#pragma once

namespace advstep_torch {

/// Registers scatter_rows_ and gather_blocks in the namespace advance_step, for "cpu" and for
/// "npu".
void RegisterPaged();

}  // namespace advstep_torch
