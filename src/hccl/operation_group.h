// SPDX-License-Identifier: Apache-2.0
// Operators of a thread between HcclGroupStart and HcclGroupEnd.

#pragma once

#include <memory>

#include "src/hccl/operation.h"

namespace advstep::hccl {

/// Each thread has a group of its own, so none of this needs a lock. A group that is open holds the
/// operators of the thread back.
class OperationGroup {
 public:
    static bool IsOpen();

    /// Groups may be nested; only the end of the outermost one has an effect.
    static void Start();
    static void Hold(std::unique_ptr<Operation> operation, aclrtStream stream);

    /// Queues what the group holds: the messages of a communicator in a stream as one operator,
    /// which sends and receives at a time, and the collectives in their order. The first failure
    /// ends this, and what has not been queued is dropped. HCCL_E_PARA: no group is open.
    static Outcome End();
};

}  // namespace advstep::hccl
