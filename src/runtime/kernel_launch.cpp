#include "src/runtime/kernel_launch.h"

#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/runtime/core_trace.h"
#include "src/runtime/device.h"

namespace advstep {
namespace {

// Waking threads breaks even at about this many rows (docs/decisions/0003-streams.md).
constexpr int64_t kRowsWorthThreads = 32768;
// About this many rows take as long as waking a thread, some 30 us.
constexpr int64_t kHeavyRows = 16384;
// A stream's lock may be kept so long: a microsecond or two.
constexpr int64_t kBriefRows = 1024;
// Launches that keep no more than this from phase to phase keep it on the stack.
constexpr int64_t kFewKeptBytes = 16384;

/// A launch while it is played.
struct Play {
    const KernelLaunch& launch;
    const void* payload;
    const std::vector<int32_t>& order;  // empty: ascending
    const TracedKernel& traced;
    Isa isa;
    unsigned char* kept;  // as CoreContext
    int64_t keptBytes;
};

[[gnu::always_inline]] inline void PlayUntraced(const Play& play, const KernelPhase& phase,
                                                int32_t begin, int32_t end, Fault* fault) {
    const auto run = [&](int32_t first, int32_t count) {
        const CoreContext core{first, fault, count, play.isa, play.kept, play.keptBytes};
        phase.run(core, play.payload);
    };
    if (phase.merges && play.order.empty()) {
        run(begin, end - begin);
        return;
    }
    for (int32_t position = begin; position < end; ++position) {
        run(play.order.empty() ? position : play.order[static_cast<size_t>(position)], 1);
    }
}

void PlayCores(const Play& play, int32_t index, int32_t begin, int32_t end, Fault* fault) {
    const KernelPhase& phase = play.launch.program->phases[index];
    if (!play.traced.traced) {
        PlayUntraced(play, phase, begin, end, fault);
        return;
    }
    const CoreSlice slice(play.traced, index, begin, end - begin);
    PlayUntraced(play, phase, begin, end, fault);
}

void RunPhaseOnThreads(const Play& play, int32_t index, Fault* lowest) {
    std::mutex mutex;  // guards *lowest; taken only by chunks that met a fault
    play.launch.device->cores().Run(play.launch.coreCount, [&](int32_t begin, int32_t end) {
        Fault fault;
        PlayCores(play, index, begin, end, &fault);
        if (fault.found()) {
            const std::lock_guard<std::mutex> lock(mutex);
            if (!lowest->found() || fault.row < lowest->row) {
                *lowest = fault;
            }
        }
    });
}

// Only after a failure or a warning.
[[gnu::cold, gnu::noinline]] Status EndPhase(const Play& play, const KernelPhase& phase,
                                             const Fault& fault) {
    const KernelProgram& program = *play.launch.program;
    const FaultReport report = program.describe(fault, play.payload);
    if (phase.onFault == OnFault::kFail) {
        play.launch.device->counters().AddFailure(report.code == ACL_ERROR_RT_RESOURCE_ALLOC_FAIL);
        return Error(report.code, "{}: {}", program.call, report.message);
    }
    // Asked for by a setting, so whatever the log level.
    LogLine(LogLevel::kWarn, fmt::format("{}: {}", program.call, report.message));
    return {};
}

Status RunPhases(const Play& play) {
    const KernelLaunch& launch = play.launch;
    const Device& device = *launch.device;
    const KernelProgram& program = *launch.program;
    // A shuffled order is for tests: there every launch meets the threads.
    const bool threads =
        (launch.rows >= kRowsWorthThreads || !play.order.empty()) && device.cores().threads() > 1;
    for (int32_t index = 0; index < program.phaseCount; ++index) {
        Fault fault;
        if (threads) {
            RunPhaseOnThreads(play, index, &fault);
        } else {
            PlayCores(play, index, 0, launch.coreCount, &fault);
        }
        if (fault.found()) {
            ADVSTEP_RETURN_IF_ERROR(EndPhase(play, program.phases[index], fault));
        }
    }
    device.counters().AddSuccess(program.count != nullptr ? program.count(play.payload)
                                                          : LaunchCounts{});
    return {};
}

Status RunKernelTask(const Task& base) {
    const auto& task = static_cast<const KernelTask&>(base);
    return RunKernel(task.launch, &task + 1);
}

}  // namespace

Status RunKernel(const KernelLaunch& launch, const void* payload) {
    const Device& device = *launch.device;
    std::vector<int32_t> order;
    if (!device.order().ascending()) {
        order = device.order().Of(launch.coreCount);
    }
    const TracedKernel traced = TracedKernel::Now(device.id(), launch.program->call);
    const Isa isa = device.settings().isa;
    const int64_t wanted = launch.rows * launch.program->keptBytesPerRow;
    if (wanted <= kFewKeptBytes) {
        alignas(64) unsigned char few[kFewKeptBytes];
        return RunPhases({launch, payload, order, traced, isa, few, wanted});
    }
    const KeptMemory::Lease kept = device.cores().kept().Borrow(wanted);
    return RunPhases({launch, payload, order, traced, isa, kept.data(), kept.bytes()});
}

size_t KernelTask::BytesFor(const KernelLaunch& launch) {
    return sizeof(KernelTask) + launch.payloadBytes;
}

KernelTask* KernelTask::Make(void* memory, const KernelLaunch& launch, const void* payload) {
    auto* const task = new (memory) KernelTask;
    task->name = launch.program->call;
    task->topic = TaskTopic::kKernel;
    task->run = &RunKernelTask;
    task->heavy = launch.rows > kHeavyRows;
    task->brief = launch.program->evenRows && launch.rows <= kBriefRows;
    task->launch = launch;
    std::memcpy(task + 1, payload, launch.payloadBytes);
    return task;
}

}  // namespace advstep
