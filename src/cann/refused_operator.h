// SPDX-License-Identifier: Apache-2.0
// The refusal of an operator that a program calls by its name.

#pragma once

#include "acl/acl_op.h"

namespace advstep::cann {

/// Refuses a call, and enqueues nothing; attr may be null. 100000: opType is null; a number of
/// tensors is below 0. 200001: all other calls; the message has the operator's name and attributes.
aclError RefuseOperator(const char* call, const char* opType, int numInputs, int numOutputs,
                        const aclopAttr* attr) noexcept;

}  // namespace advstep::cann
