// SPDX-License-Identifier: Apache-2.0
// The AdvanceStep kernel by itself, without stream, queue and calls, beside the bare loop.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/aclnn/executor.h"
#include "src/runtime/device/device.h"
#include "src/runtime/device/kernel_launch.h"
#include "tests/benchmark/dashboard/advance_sides.h"
#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/plain_moves.h"
#include "tests/benchmark/require.h"

namespace bench {
namespace {

constexpr int64_t kNoPowerOfTwo = 24;

enum class How {
    kUpdate,       // the update's phase alone, called directly
    kUpdateOnTwo,  // the same as the device plays it, shared with its other threads
    kChecked       // check and update, called directly
};

// A planned launch, played without stream and queue.
class Kernel {
 public:
    Kernel(const BareBatch& initial, int64_t blockSize, How how)
        : batch_(std::make_shared<AdvanceBatch>(initial, blockSize)),
          executor_(batch_->PhaseOne()),
          launch_(executor_->launch) {
        Require(aclSetAclOpExecutorRepeatable(executor_));
        const advstep::KernelProgram& all = *launch_.program;
        update_.call = all.call;
        update_.describe = all.describe;
        update_.count = all.count;
        update_.counters = all.counters;
        int32_t last = all.phaseCount - 1;
        while (all.phases[last].onFault == advstep::OnFault::kFinding) {
            --last;  // looks at the update for the sanitizer
        }
        update_.phases[update_.phaseCount++] = all.phases[last];
        launch_.program = &update_;
        if (how == How::kChecked) {
            checked_ = all.firstTwo;
            kept_.resize(static_cast<size_t>(launch_.rows * all.keptBytesPerRow));
        }
    }
    ~Kernel() { Require(aclDestroyAclOpExecutor(executor_)); }
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    const std::shared_ptr<AdvanceBatch>& batch() const { return batch_; }

    void Update() const { CallDirectly(update_.phases[0].run); }

    void CheckAndUpdate() const { CallDirectly(checked_); }

    void Play() const { Require(advstep::RunKernel(launch_, executor_->payload).code()); }

 private:
    // As the device would, for all cores in one call.
    void CallDirectly(advstep::KernelFn kernel) const {
        advstep::Fault fault;
        const advstep::CoreContext core{0,
                                        &fault,
                                        launch_.coreCount,
                                        launch_.device->settings().isa,
                                        kept_.data(),
                                        static_cast<int64_t>(kept_.size())};
        kernel(core, executor_->payload);
        Require(fault.found() ? 1 : 0);
    }

    std::shared_ptr<AdvanceBatch> batch_;
    aclOpExecutor* executor_;
    advstep::PlannedLaunch launch_;
    advstep::KernelProgram update_;
    advstep::KernelFn checked_ = nullptr;
    mutable std::vector<unsigned char> kept_;  // what the check leaves for the update
};

Side SideOf(const std::shared_ptr<Kernel>& kernel, How how) {
    switch (how) {
        case How::kUpdate:
            return AdvanceSide(kernel->batch(), [kernel] { kernel->Update(); });
        case How::kChecked:
            return AdvanceSide(kernel->batch(), [kernel] { kernel->CheckAndUpdate(); });
        default:
            return AdvanceSide(kernel->batch(), [kernel] { kernel->Play(); });
    }
}

Prepared PrepareKernel(int64_t numSeqs, int64_t blockSize, How how) {
    std::string whyNot = WhyNoRoomFor(numSeqs);
    if (whyNot.empty() && how == How::kUpdateOnTwo) {
        whyNot = WhyNoTwoThreads();
    }
    if (!whyNot.empty()) {
        return NotHere(whyNot);
    }
    BareBatch initial = MakeMixedBatch(numSeqs, kStride, blockSize);
    const auto kernel = std::make_shared<Kernel>(initial, blockSize, how);
    return {{SideOf(kernel, how), BareLoopSide(std::move(initial), blockSize), true}, ""};
}

// Check and update beside the moves alone, whose speed the caches decide.
Prepared PrepareRoofline(int64_t numSeqs) {
    const BareBatch initial = MakeMixedBatch(numSeqs, kStride, kDefaultBlockSize);
    const auto kernel = std::make_shared<Kernel>(initial, kDefaultBlockSize, How::kChecked);
    const auto moves = std::make_shared<PlainMoves>(initial, kDefaultBlockSize);
    return {{SideOf(kernel, How::kChecked),
             InARow([](int64_t) {}, [moves] { moves->Run(); }, kernel->batch()->mostSteps()), true},
            ""};
}

Row KernelRow(std::string name, std::string what, double goal, int64_t numSeqs, int64_t blockSize,
              How how) {
    return {std::move(name), std::move(what), "B0", AtMost(goal),
            [=] { return PrepareKernel(numSeqs, blockSize, how); }};
}

}  // namespace

Rows KernelRows() {
    Rows rows;
    for (const int64_t numSeqs : {64, 256, 1024}) {
        rows.push_back(KernelRow(fmt::format("kernel_{}", numSeqs),
                                 fmt::format("kernel, N = {}, blockSize 16", numSeqs), 0.35,
                                 numSeqs, kDefaultBlockSize, How::kUpdate));
    }
    for (const int64_t numSeqs : {64, 256, 1024}) {
        rows.push_back(KernelRow(fmt::format("kernel_bs24_{}", numSeqs),
                                 fmt::format("kernel, N = {}, blockSize 24", numSeqs), 0.50,
                                 numSeqs, kNoPowerOfTwo, How::kUpdate));
    }
    for (const int64_t numSeqs : {64, 256, 1024}) {
        rows.push_back(KernelRow(fmt::format("kernel_checked_{}", numSeqs),
                                 fmt::format("kernel and data checks, N = {}", numSeqs), 0.40,
                                 numSeqs, kDefaultBlockSize, How::kChecked));
    }
    for (const int64_t numSeqs : {64, 256, 1024}) {
        rows.push_back({fmt::format("roofline_{}", numSeqs),
                        fmt::format("speed with checks over bare moves, N = {}", numSeqs),
                        "bare moves", SpeedupOf(0.9), [=] { return PrepareRoofline(numSeqs); }});
    }
    rows.push_back(KernelRow("kernel_16k", "kernel, N = 16k, one thread", 0.60, 16384,
                             kDefaultBlockSize, How::kUpdate));
    rows.push_back(KernelRow("kernel_1m", "kernel, N = 1M, one thread", 0.42, 1 << 20,
                             kDefaultBlockSize, How::kUpdate));
    rows.push_back(KernelRow("kernel_1m_2_threads", "kernel, N = 1M, two threads", 0.25, 1 << 20,
                             kDefaultBlockSize, How::kUpdateOnTwo));
    return rows;
}

}  // namespace bench
