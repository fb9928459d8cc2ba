// The AdvanceStep kernel by itself, without stream, queue and calls, beside the bare loop.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "src/aclnn/executor.h"
#include "src/runtime/kernel_launch.h"
#include "tests/benchmark/dashboard/advance_sides.h"
#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/require.h"

namespace bench {
namespace {

constexpr int64_t kNoPowerOfTwo = 24;

enum class Phases { kUpdate, kAll };
enum class Threads { kOne, kTwo };

// A planned launch, played without stream and queue: all phases, which share it among threads if
// there are many rows, or the last one, the update, alone.
class Kernel {
 public:
    Kernel(const BareBatch& initial, int64_t blockSize, Phases phases, Threads threads)
        : batch_(std::make_shared<AdvanceBatch>(initial, blockSize)),
          executor_(batch_->PhaseOne()) {
        Require(aclSetAclOpExecutorRepeatable(executor_));
        launch_ = executor_->launch;
        if (phases == Phases::kUpdate) {
            update_.call = launch_.program->call;
            update_.describe = launch_.program->describe;
            update_.count = launch_.program->count;
            update_.phaseCount = 1;
            update_.phases[0] = launch_.program->phases[launch_.program->phaseCount - 1];
            launch_.program = &update_;
            if (threads == Threads::kOne) {
                launch_.rows = 0;  // too few to be shared
            }
        }
    }
    ~Kernel() { Require(aclDestroyAclOpExecutor(executor_)); }
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    const std::shared_ptr<AdvanceBatch>& batch() const { return batch_; }

    void Run() const { Require(advstep::RunKernel(launch_, executor_->payload).code()); }

 private:
    std::shared_ptr<AdvanceBatch> batch_;
    aclOpExecutor* executor_;
    advstep::KernelProgram update_;
    advstep::KernelLaunch launch_;
};

Prepared PrepareKernel(int64_t numSeqs, int64_t blockSize, Phases phases, Threads threads) {
    std::string whyNot = WhyNoRoomFor(numSeqs);
    if (whyNot.empty() && threads == Threads::kTwo) {
        whyNot = WhyNoTwoThreads();
    }
    if (!whyNot.empty()) {
        return NotHere(whyNot);
    }
    BareBatch initial = MakeMixedBatch(numSeqs, kStride, blockSize);
    const auto kernel = std::make_shared<Kernel>(initial, blockSize, phases, threads);
    return {{AdvanceSide(kernel->batch(), [kernel] { kernel->Run(); }),
             BareLoopSide(std::move(initial), blockSize), true},
            ""};
}

Row KernelRow(std::string name, std::string what, double goal, int64_t numSeqs, int64_t blockSize,
              Phases phases, Threads threads = Threads::kOne) {
    return {std::move(name), std::move(what), "B0", AtMost(goal),
            [=] { return PrepareKernel(numSeqs, blockSize, phases, threads); }};
}

}  // namespace

Rows KernelRows() {
    Rows rows;
    for (const int64_t numSeqs : {64, 256, 1024}) {
        rows.push_back(KernelRow(fmt::format("kernel_{}", numSeqs),
                                 fmt::format("kernel, N = {}, blockSize 16", numSeqs), 0.35,
                                 numSeqs, kDefaultBlockSize, Phases::kUpdate));
    }
    for (const int64_t numSeqs : {64, 256, 1024}) {
        rows.push_back(KernelRow(fmt::format("kernel_bs24_{}", numSeqs),
                                 fmt::format("kernel, N = {}, blockSize 24", numSeqs), 0.50,
                                 numSeqs, kNoPowerOfTwo, Phases::kUpdate));
    }
    for (const int64_t numSeqs : {64, 256, 1024}) {
        rows.push_back(KernelRow(fmt::format("kernel_checked_{}", numSeqs),
                                 fmt::format("kernel and data checks, N = {}", numSeqs), 0.40,
                                 numSeqs, kDefaultBlockSize, Phases::kAll));
    }
    rows.push_back(KernelRow("kernel_16k", "kernel, N = 16k, one thread", 0.60, 16384,
                             kDefaultBlockSize, Phases::kUpdate));
    rows.push_back(KernelRow("kernel_1m", "kernel, N = 1M, one thread", 0.42, 1 << 20,
                             kDefaultBlockSize, Phases::kUpdate));
    rows.push_back(KernelRow("kernel_1m_2_threads", "kernel, N = 1M, two threads", 0.25, 1 << 20,
                             kDefaultBlockSize, Phases::kUpdate, Threads::kTwo));
    return rows;
}

}  // namespace bench
