// The AdvanceStep kernel by itself, without stream, queue and calls, beside the bare loop.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "src/aclnn/executor.h"
#include "src/runtime/kernel_launch.h"
#include "tests/benchmark/dashboard/advance_sides.h"
#include "tests/benchmark/dashboard/rows.h"
#include "tests/benchmark/kernel_batch.h"
#include "tests/benchmark/require.h"

namespace bench {
namespace {

constexpr int64_t kStride = 128;
constexpr int64_t kPowerOfTwo = 16;  // vLLM's default block size
constexpr int64_t kNoPowerOfTwo = 24;

enum class Phases { kCommit, kAll };
enum class Threads { kCaller, kDevice };

// A planned launch of which all phases are run, or the last one, the update, alone.
class Kernel {
 public:
    Kernel(int64_t numSeqs, int64_t blockSize, Phases phases)
        : batch_(numSeqs, kStride, blockSize), program_(*batch_.executor()->launch.program) {
        if (phases == Phases::kCommit) {
            program_.phases[0] = program_.phases[program_.phaseCount - 1];
            program_.phaseCount = 1;
        }
        launch_ = batch_.executor()->launch;
        launch_.program = &program_;
    }
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    int64_t mostSteps() const { return batch_.steps(); }

    void MakeRoom(int64_t steps) {
        steps_ += steps;
        if (steps_ > batch_.steps()) {
            batch_.Restore();
            steps_ = steps;
        }
    }

    // In this thread, core by core where the kernel does not take them together.
    void RunHere() const {
        advstep::Fault fault;
        advstep::CoreContext core;
        core.fault = &fault;
        for (int32_t index = 0; index < program_.phaseCount; ++index) {
            const advstep::KernelPhase& phase = program_.phases[index];
            core.count = phase.merges ? launch_.coreCount : 1;
            for (core.index = 0; core.index < launch_.coreCount; core.index += core.count) {
                phase.run(core, batch_.executor()->payload);
            }
        }
        Require(fault.found() ? 1 : 0);
    }

    // As the device runs it, with its threads.
    void RunOnDevice() const {
        Require(advstep::RunKernel(launch_, batch_.executor()->payload).code());
    }

 private:
    KernelBatch batch_;
    advstep::KernelProgram program_;
    advstep::KernelLaunch launch_;
    int64_t steps_ = 0;
};

Prepared PrepareKernel(int64_t numSeqs, int64_t blockSize, Phases phases, Threads threads) {
    std::string whyNot = WhyNoRoomFor(numSeqs);
    if (whyNot.empty() && threads == Threads::kDevice) {
        whyNot = WhyNoTwoThreads();
    }
    if (!whyNot.empty()) {
        return NotHere(whyNot);
    }
    const auto kernel = std::make_shared<Kernel>(numSeqs, blockSize, phases);
    const auto makeRoom = [kernel](int64_t runs) { kernel->MakeRoom(runs); };
    const Kernel& run = *kernel;
    const Side library = threads == Threads::kCaller
                             ? InARow(
                                   makeRoom, [&run] { run.RunHere(); }, kernel->mostSteps())
                             : InARow(
                                   makeRoom, [&run] { run.RunOnDevice(); }, kernel->mostSteps());
    const auto bare = std::make_shared<BareBatch>(numSeqs, kStride);
    return {{library, BareLoopSide(bare, blockSize), true}, ""};
}

Row KernelRow(std::string name, std::string what, double goal, int64_t numSeqs, int64_t blockSize,
              Phases phases, Threads threads = Threads::kCaller) {
    return {std::move(name), std::move(what), "B0", AtMost(goal),
            [=] { return PrepareKernel(numSeqs, blockSize, phases, threads); }};
}

}  // namespace

Rows KernelRows() {
    Rows rows;
    for (const int64_t numSeqs : {64, 256, 1024}) {
        rows.push_back(KernelRow(fmt::format("kernel_{}", numSeqs),
                                 fmt::format("kernel, N = {}, blockSize 16", numSeqs), 0.35,
                                 numSeqs, kPowerOfTwo, Phases::kCommit));
    }
    for (const int64_t numSeqs : {64, 256, 1024}) {
        rows.push_back(KernelRow(fmt::format("kernel_bs24_{}", numSeqs),
                                 fmt::format("kernel, N = {}, blockSize 24", numSeqs), 0.50,
                                 numSeqs, kNoPowerOfTwo, Phases::kCommit));
    }
    for (const int64_t numSeqs : {64, 256, 1024}) {
        rows.push_back(KernelRow(fmt::format("kernel_checked_{}", numSeqs),
                                 fmt::format("kernel and data checks, N = {}", numSeqs), 0.40,
                                 numSeqs, kPowerOfTwo, Phases::kAll));
    }
    rows.push_back(KernelRow("kernel_16k", "kernel, N = 16k, one thread", 0.60, 16384, kPowerOfTwo,
                             Phases::kCommit));
    rows.push_back(KernelRow("kernel_1m", "kernel, N = 1M, one thread", 0.42, 1 << 20, kPowerOfTwo,
                             Phases::kCommit));
    rows.push_back(KernelRow("kernel_1m_2_threads", "kernel, N = 1M, two threads", 0.25, 1 << 20,
                             kPowerOfTwo, Phases::kCommit, Threads::kDevice));
    return rows;
}

}  // namespace bench
