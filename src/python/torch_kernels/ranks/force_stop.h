// SPDX-License-Identifier: Apache-2.0
// torch_npu.npu.stop_device for collectives: none is under way or begins until the restart.

#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "torch_kernels/ranks/collective.h"

namespace advstep_torch {

/// One for the process, as stop_device stops every group. Gloo goes on with a part that waits for
/// another rank, so its memory is kept until that has ended; its caller waits no longer.
class ForceStop {
 public:
    static ForceStop& OfProcess();

    /// Throws while the process is stopped. `name`: of a collective that would begin.
    void Check(const std::string& name);

    /// Lets Set(true) end the collective, which may have come already.
    void Follow(const std::shared_ptr<Collective>& collective);

    void Set(bool stopped);

 private:
    std::mutex mutex_;  // guards the two below; no collective is stopped under it
    bool stopped_ = false;
    std::vector<std::weak_ptr<Collective>> underWay_;  // those that have ended are gone, or go soon
};

}  // namespace advstep_torch
