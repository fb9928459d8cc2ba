// SPDX-License-Identifier: Apache-2.0
// The refusal of an operator that a program calls by its name.

#pragma once

#include "acl/acl_op.h"

namespace advstep::cann {

/// 200001 with a message that has the operator's name and attributes; attr may be null. 100000:
/// opType is null; a number of tensors is below 0. Nothing is enqueued.
aclError RefuseOperator(const char* call, const char* opType, int numInputs, int numOutputs,
                        const aclopAttr* attr) noexcept;

}  // namespace advstep::cann
