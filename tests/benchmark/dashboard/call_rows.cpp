// SPDX-License-Identifier: Apache-2.0
// AdvanceStep as a runtime calls it: phase one, phase two, synchronisation, all checks.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "src/aclnn/executor.h"
#include "src/runtime/device/kernel_launch.h"
#include "tests/benchmark/dashboard/advance_sides.h"
#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/require.h"

namespace bench {
namespace {

Prepared PrepareNewTensors(int64_t numSeqs) {
    BareBatch initial = MakeMixedBatch(numSeqs, kStride, kDefaultBlockSize);
    const auto batch = std::make_shared<AdvanceBatch>(initial, kDefaultBlockSize);
    return {{AdvanceSide(batch, [batch = batch.get()] { batch->CallWithNewTensors(); }),
             BareLoopSide(std::move(initial), kDefaultBlockSize), true},
            ""};
}

// A batch with one executor for all runs.
struct Planned {
    explicit Planned(int64_t numSeqs)
        : batch(std::make_shared<AdvanceBatch>(MakeMixedBatch(numSeqs, kStride, kDefaultBlockSize),
                                               kDefaultBlockSize)),
          executor(batch->PhaseOne()) {
        Require(aclSetAclOpExecutorRepeatable(executor));
    }
    ~Planned() { Require(aclDestroyAclOpExecutor(executor)); }
    Planned(const Planned&) = delete;
    Planned& operator=(const Planned&) = delete;

    std::shared_ptr<AdvanceBatch> batch;
    aclOpExecutor* executor;
};

// Against the same launch played directly, with all phases.
Prepared PrepareRepeatable(int64_t numSeqs) {
    const auto library = std::make_shared<Planned>(numSeqs);
    const auto kernel = std::make_shared<Planned>(numSeqs);
    return {{AdvanceSide(library->batch,
                         [library] {
                             library->batch->PhaseTwo(library->executor);
                             Require(aclrtSynchronizeStream(nullptr));
                         }),
             AdvanceSide(kernel->batch,
                         [kernel] {
                             Require(advstep::RunKernel(kernel->executor->launch,
                                                        kernel->executor->payload)
                                         .code());
                         }),
             true},
            ""};
}

Row CallRow(int64_t numSeqs, double goal) {
    return {fmt::format("call_{}", numSeqs),
            fmt::format("full call, N = {}, live tensors", numSeqs), "B0", AtMost(goal),
            [=]() -> Prepared {
                return {CallBesideBareLoop(numSeqs), ""};
            }};
}

Row NewTensorsRow(int64_t numSeqs, double goal) {
    return {fmt::format("call_new_tensors_{}", numSeqs),
            fmt::format("full call, N = {}, six tensors made and destroyed", numSeqs), "B0",
            AtMost(goal), [=] { return PrepareNewTensors(numSeqs); }};
}

}  // namespace

Rows CallRows() {
    return {CallRow(8, 12),
            CallRow(256, 0.60),
            CallRow(16384, 0.60),
            NewTensorsRow(256, 0.75),
            NewTensorsRow(1024, 0.45),
            {"repeatable_8", "repeatable executor and sync above the kernel, N = 8", "kernel",
             NanosecondsAbove(40), [] { return PrepareRepeatable(8); }}};
}

}  // namespace bench
