// SPDX-License-Identifier: Apache-2.0
// Reads the arguments of a call: into a key, by which an equal call finds its plan, and by value.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "src/operators/entry/call.h"
#include "src/operators/entry/call_plan.h"

namespace advstep_operators {

/// Why a call is refused.
struct Refusal {
    aclnnStatus code = ACLNN_SUCCESS;
    std::string message;

    bool ok() const { return code == ACLNN_SUCCESS; }
};

/// What distinguishes a call from others, and the addresses of its tensors, which do not.
struct CallKey {
    std::vector<uint64_t> words;
    std::vector<void*> addresses;

    uint64_t Hash() const;
};

/// Reads a call into a key. The refusal names an argument that is null or has been destroyed.
Refusal ReadKey(const FunctionSpec& function, const Argument* arguments, CallKey* key);

/// Reads the values of a call that ReadKey has read. The order of the tensors is that of its
/// addresses.
void ReadValues(const FunctionSpec& function, const Argument* arguments, CallPlan* plan);

}  // namespace advstep_operators
