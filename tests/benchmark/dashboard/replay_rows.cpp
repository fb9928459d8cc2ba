// SPDX-License-Identifier: Apache-2.0
// Decode steps, Step and AdvanceStep: replays beside their kernels alone, and calls under the
// sanitizer.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "src/aclnn/executor.h"
#include "src/base/sanitizer.h"
#include "src/runtime/device/kernel_launch.h"
#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/decode_batch.h"
#include "tests/benchmark/require.h"

namespace bench {
namespace {

// The machine with conformance vllm, in which the two operators share their tensors. The
// dashboard's own use of device 0 is interrupted meanwhile, because settings are read at the
// runtime's start.
class VllmMachine {
 public:
    explicit VllmMachine(const char* checks = nullptr) {
        Require(aclrtResetDevice(0));
        setenv("ADVANCE_STEP_CONFORMANCE", "vllm", 1);
        if (checks != nullptr) {
            setenv("ADVANCE_STEP_SANITIZE", checks, 1);
        }
        Require(aclInit(nullptr));
    }
    ~VllmMachine() {
        Require(aclFinalize());
        unsetenv("ADVANCE_STEP_CONFORMANCE");
        unsetenv("ADVANCE_STEP_SANITIZE");
        Require(aclrtSetDevice(0));
    }
    VllmMachine(const VllmMachine&) = delete;
    VllmMachine& operator=(const VllmMachine&) = delete;
};

// A batch with repeatable executors, whose payloads know the workspace.
class PlannedSteps {
 public:
    explicit PlannedSteps(int64_t numSeqs) : batch_(numSeqs) {
        step_ = batch_.PlanStep();
        advance_ = batch_.PlanAdvanceStep();
        Require(aclSetAclOpExecutorRepeatable(step_));
        Require(aclSetAclOpExecutorRepeatable(advance_));
        batch_.Restore();
        Enqueue(nullptr);
        Require(aclrtSynchronizeStream(nullptr));
        batch_.Restore();
    }
    ~PlannedSteps() {
        Require(aclDestroyAclOpExecutor(step_));
        Require(aclDestroyAclOpExecutor(advance_));
    }
    PlannedSteps(const PlannedSteps&) = delete;
    PlannedSteps& operator=(const PlannedSteps&) = delete;

    DecodeBatch& batch() { return batch_; }

    void Enqueue(aclrtStream stream) {
        batch_.RunStep(step_, stream);
        batch_.RunAdvanceStep(advance_, stream);
    }
    void PlayKernels() const {
        Require(advstep::RunKernel(step_->launch, step_->payload).code());
        Require(advstep::RunKernel(advance_->launch, advance_->payload).code());
    }

 private:
    DecodeBatch batch_;
    aclOpExecutor* step_ = nullptr;
    aclOpExecutor* advance_ = nullptr;
};

// A model of so many steps, and as many steps by the kernels alone.
class Replays {
 public:
    Replays(int64_t numSeqs, int64_t steps)
        : steps_(steps),
          replayed_(std::make_unique<PlannedSteps>(numSeqs)),
          played_(std::make_unique<PlannedSteps>(numSeqs)) {
        Require(aclrtCreateStream(&stream_));
        Require(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        for (int64_t step = 0; step < steps; ++step) {
            replayed_->Enqueue(stream_);
        }
        Require(aclmdlRICaptureEnd(stream_, &model_));
        for (int64_t done = 0; done + steps <= kCompared; done += steps) {
            Replay();
            Play();
        }
        replayed_->batch().RequireSame(played_->batch());
    }
    ~Replays() {
        Require(aclmdlRIDestroy(model_));
        Require(aclrtDestroyStream(stream_));
    }
    Replays(const Replays&) = delete;
    Replays& operator=(const Replays&) = delete;

    void Replay() {
        Require(aclmdlRIExecuteAsync(model_, stream_));
        Require(aclrtSynchronizeStream(stream_));
    }
    void Play() const {
        for (int64_t step = 0; step < steps_; ++step) {
            played_->PlayKernels();
        }
    }

    // Sides whose times are those of one step.
    Side ReplaySide(const std::shared_ptr<Replays>& self) {
        return EachStep(InARow([self](int64_t) { self->replayed_->batch().Restore(); },
                               [self] { self->Replay(); }, DecodeBatch::kMostSteps / steps_));
    }
    Side KernelSide(const std::shared_ptr<Replays>& self) {
        return EachStep(InARow([self](int64_t) { self->played_->batch().Restore(); },
                               [self] { self->Play(); }, DecodeBatch::kMostSteps / steps_));
    }

 private:
    static constexpr int64_t kCompared = 100;  // steps

    Side EachStep(Side whole) const {
        Side each = whole;
        each.time = [whole, steps = static_cast<double>(steps_)](int64_t runs) {
            return whole.time(runs) / steps;
        };
        return each;
    }

    VllmMachine machine_;
    int64_t steps_;
    std::unique_ptr<PlannedSteps> replayed_, played_;
    aclrtStream stream_ = nullptr;
    aclmdlRI model_ = nullptr;
};

Row ReplayRow(int64_t numSeqs, int64_t steps) {
    constexpr double kGoal = 60;
    const bool one = steps == 1;
    return {
        one ? fmt::format("replay_{}", numSeqs) : fmt::format("replay_{}_steps_{}", steps, numSeqs),
        one ? fmt::format("replay of a captured step and sync above its kernels, N = {}", numSeqs)
            : fmt::format("the same, {} steps in a model, each, N = {}", steps, numSeqs),
        "kernels", NanosecondsAbove(kGoal), [=]() -> Prepared {
            const auto both = std::make_shared<Replays>(numSeqs, steps);
            return {{both->ReplaySide(both), both->KernelSide(both), true}, ""};
        }};
}

// Steps call by call, with the checks of the sanitizer on or off. It knows the memory of both.
class SanitizedSteps {
 public:
    explicit SanitizedSteps(int64_t numSeqs)
        : machine_("memory,race,init"),
          checks_(advstep::sanitizerChecks),
          steps_(std::make_unique<PlannedSteps>(numSeqs)) {}

    static Side SideOf(const std::shared_ptr<SanitizedSteps>& self, bool checked) {
        return InARow(
            [self, checked](int64_t) {
                advstep::sanitizerChecks = self->checks_;
                self->steps_->batch().Restore();
                advstep::sanitizerChecks = checked ? self->checks_ : 0;
            },
            [self] {
                self->steps_->Enqueue(nullptr);
                Require(aclrtSynchronizeStream(nullptr));
            },
            DecodeBatch::kMostSteps);
    }

 private:
    VllmMachine machine_;
    uint32_t checks_;
    std::unique_ptr<PlannedSteps> steps_;
};

Row SanitizedRow() {
    static constexpr int64_t kSeqs = 256;
    return {"sanitized_256", "a decode step under memory, race and init, N = 256",
            "the step without", AtMost(5), []() -> Prepared {
                const auto both = std::make_shared<SanitizedSteps>(kSeqs);
                return {
                    {SanitizedSteps::SideOf(both, true), SanitizedSteps::SideOf(both, false), true},
                    ""};
            }};
}

}  // namespace

Rows ReplayRows() {
    return {ReplayRow(8, 1), ReplayRow(256, 1), ReplayRow(8, 100), SanitizedRow()};
}

}  // namespace bench
