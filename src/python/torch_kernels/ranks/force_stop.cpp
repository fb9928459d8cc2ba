// SPDX-License-Identifier: Apache-2.0
// Ends the collectives of the process.

#include "torch_kernels/ranks/force_stop.h"

#include <c10/util/Exception.h>

#include <algorithm>

namespace advstep_torch {

ForceStop& ForceStop::OfProcess() {
    static ForceStop* const forceStop = new ForceStop;  // threads of Gloo may outlive statics
    return *forceStop;
}

void ForceStop::Check(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) {
        C10_THROW_ERROR(DistBackendError,
                        name +
                            ": FORCE STOP: torch_npu.npu.stop_device has stopped the process; "
                            "expected torch_npu.npu.restart_device before it");
    }
}

void ForceStop::Follow(const std::shared_ptr<Collective>& collective) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        underWay_.erase(std::remove_if(underWay_.begin(), underWay_.end(),
                                       [](const auto& each) {
                                           const std::shared_ptr<Collective> known = each.lock();
                                           return known == nullptr || known->Ended();
                                       }),
                        underWay_.end());
        if (!stopped_) {
            underWay_.push_back(collective);
            return;
        }
    }
    collective->Stop();
}

void ForceStop::Set(bool stopped) {
    std::vector<std::weak_ptr<Collective>> underWay;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stopped_ = stopped;
        if (stopped) {
            underWay.swap(underWay_);
        }
    }
    for (const std::weak_ptr<Collective>& each : underWay) {
        if (const std::shared_ptr<Collective> collective = each.lock()) {
            collective->Stop();
        }
    }
}

}  // namespace advstep_torch
