// SPDX-License-Identifier: Apache-2.0
// The shared part of the two-phase operator calls: tensors, workspace and timing.

#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>

#include "aclnn/aclnn_base.h"
#include "device_buffer.h"

namespace serve {

struct TensorDeleter {
    void operator()(aclTensor* tensor) const noexcept {
        Report(aclDestroyTensor(tensor), "aclDestroyTensor");
    }
};
using Tensor = std::unique_ptr<aclTensor, TensorDeleter>;

/// @throws AclError  no memory
Tensor MakeTensor(std::initializer_list<int64_t> shape, aclDataType type, void* data);

/// What an operator's calls have cost.
struct OpTiming {
    int64_t calls = 0;
    double hostSeconds = 0;    // in phase one and phase two
    double deviceSeconds = 0;  // between events right before and right after the launch
};

/// Runs both phases of one operator, timed.
class OpCall {
 public:
    using PhaseTwo = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

    OpCall(const char* phaseOneName, const char* phaseTwoName, PhaseTwo phaseTwo)
        : phaseOneName_(phaseOneName), phaseTwoName_(phaseTwoName), phaseTwo_(phaseTwo) {}

    /// @param phaseOne  (uint64_t* workspaceSize, aclOpExecutor** executor) -> aclnnStatus
    template <typename PhaseOne>
    void Enqueue(Stream& stream, const PhaseOne& phaseOne) {
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        const Clock::time_point start = Clock::now();
        Check(phaseOne(&workspaceSize, &executor), phaseOneName_);
        timing_.hostSeconds += SecondsSince(start);
        Launch(stream, workspaceSize, executor);
    }
    /// After a synchronisation: adds the device time of the last Enqueue.
    void CountDeviceTime();

    const OpTiming& Timing() const { return timing_; }

 private:
    using Clock = std::chrono::steady_clock;

    static double SecondsSince(Clock::time_point start);
    void Launch(Stream& stream, uint64_t workspaceSize, aclOpExecutor* executor);
    void* Workspace(uint64_t size);

    const char* phaseOneName_;
    const char* phaseTwoName_;
    PhaseTwo phaseTwo_;
    std::unique_ptr<DeviceBuffer<uint8_t>> workspace_;
    Event start_;
    Event end_;
    OpTiming timing_;
};

}  // namespace serve
