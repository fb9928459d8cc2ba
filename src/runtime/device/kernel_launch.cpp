// SPDX-License-Identifier: Apache-2.0
// Plays the phases of a launch on all cores and picks the fault of the lowest row; makes and runs
// the records of launches.

#include "src/runtime/device/kernel_launch.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <vector>

#include "acl/acl_base.h"
#include "src/base/boundary.h"
#include "src/base/float_environment.h"
#include "src/base/log.h"
#include "src/base/sanitizer.h"
#include "src/base/sanitizer_scope.h"
#include "src/base/trace_event.h"
#include "src/runtime/device/device.h"
#include "src/runtime/task/running_work.h"
#include "src/runtime/trace/trace.h"

namespace advstep {
namespace {

// A launch that keeps at most this much data from phase to phase keeps it on the stack.
constexpr int64_t kFewKeptBytes = 16384;

/// The memory that the phases of a launch keep for one another, as in CoreContext.
struct Kept {
    unsigned char* memory;
    int64_t bytes;
};

/// A launch while it is played.
struct Play {
    const KernelLaunch& launch;
    const void* payload;
    Kept kept;
    const std::vector<int32_t>& order;  // empty: ascending
    const TracedKernel& traced;
};

// Returns a fault without words as its numbers. A negative row is none.
std::string NumbersOf(const Fault& fault) {
    std::string text = fault.row < 0 ? "the data" : fmt::format("row {}", fault.row);
    text += fmt::format(": fault {}", fault.kind);
    const size_t count = std::min<size_t>(fault.valueCount, std::size(fault.values));
    for (size_t index = 0; index < count; ++index) {
        text += fmt::format("{}{}", index == 0 ? " with " : ", ", fault.values[index]);
    }
    return text;
}

// Reports a fault of a phase of OnFault::kFinding.
void ReportSlots(const char* call, const std::string& message) {
    constexpr const char* kKinds[] = {"same_slot", "shared_block", "free_block_used"};
    const size_t colon = message.find(": ");
    const std::string name = message.substr(0, colon);
    const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                          [&](const char* each) { return name == each; });
    Finding finding(SanitizerCheck::kSlots, kind != std::end(kKinds) ? *kind : "kv_cache",
                    fmt::format("{}: {}", call,
                                kind != std::end(kKinds) ? message.substr(colon + 2) : message));
    if (const CallStack* const queuedBy = RunningWork::QueuedBy(); queuedBy != nullptr) {
        finding.Stack("work", "the launch was queued in:", *queuedBy);
    }
    finding.fields().Add("call", call);
    Report(finding);
}

// Ends a phase that found a fault. It returns a failure, or writes a warning to the log.
[[gnu::cold, gnu::noinline]] Status EndPhase(const KernelLaunch& launch, const void* payload,
                                             const KernelPhase& phase, const Fault& fault) {
    const KernelProgram& program = *launch.program;
    FaultText report;
    if (program.describe != nullptr) {
        program.describe(fault, payload, &report);
    } else {
        report.Set(0, NumbersOf(fault));
    }
    if (report.code == 0) {
        report.code = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    }
    if (phase.onFault == OnFault::kFinding) {
        ReportSlots(program.call, report.message);
        return {};
    }
    if (phase.onFault == OnFault::kFail) {
        launch.device->counters().AddFailure(report.code == ACL_ERROR_RT_RESOURCE_ALLOC_FAIL
                                                 ? DeviceCounters::kAllocationFailures
                                                 : DeviceCounters::kExceptions);
        return Error(report.code, "{}: {}", program.call, report.message);
    }
    // A setting asked for the warning, so it is written at every log level.
    LogLine(LogLevel::kWarn, fmt::format("{}: {}", program.call, report.message));
    return {};
}

void CountSuccess(const KernelLaunch& launch, const void* payload) {
    const KernelProgram& program = *launch.program;
    DeviceCounters& counters = launch.device->counters();
    if (program.count == nullptr) {
        counters.AddSuccess();
        return;
    }
    int64_t numbers[CounterNames::kMost]{};
    program.count(payload, numbers);
    counters.AddSuccess(*program.counters, numbers);
}

void PlayInOrder(const KernelPhase& phase, const void* payload, int32_t begin, int32_t end,
                 CoreContext* core) {
    core->index = begin;
    if (begin == end) {
        return;
    }
    if (phase.merges) {
        core->count = end - begin;
        phase.run(*core, payload);
        return;
    }
    for (core->count = 1; core->index < end; ++core->index) {
        phase.run(*core, payload);
    }
}

// Plays a phase of OnFault::kFinding as RunPlainly does.
[[gnu::cold, gnu::noinline]] void LookPlainly(const KernelLaunch& launch, const void* payload,
                                              const KernelPhase& phase, CoreContext* core) {
    const SanitizerScope own;
    PlayInOrder(phase, payload, 0, launch.coreCount, core);
    if (core->fault->found()) {
        (void)EndPhase(launch, payload, phase, *core->fault);
        *core->fault = {};
    }
}

// Runs a launch on one thread, with the cores in order and no trace, as most launches are. It is
// inlined because it is a good part of the time of a short launch.
[[gnu::always_inline]] inline Status RunPlainly(const KernelLaunch& launch, const void* payload,
                                                const Kept& kept) {
    const KernelProgram& program = *launch.program;
    Fault fault;
    CoreContext core{0,           &fault,    launch.coreCount, launch.device->settings().isa,
                     kept.memory, kept.bytes};
    int32_t index = 0;
    if (program.firstTwo != nullptr && launch.coreCount > 0) {
        program.firstTwo(core, payload);
        if (__builtin_expect(fault.found(), 0)) {
            return EndPhase(launch, payload, program.phases[0], fault);
        }
        index = 2;
    }
    for (; index < program.phaseCount; ++index) {
        const KernelPhase& phase = program.phases[index];
        if (phase.onFault == OnFault::kFinding) {
            if (Sanitizing(SanitizerCheck::kSlots)) {
                LookPlainly(launch, payload, phase, &core);
            }
            continue;
        }
        PlayInOrder(phase, payload, 0, launch.coreCount, &core);
        if (__builtin_expect(fault.found(), 0)) {
            ADVSTEP_RETURN_IF_ERROR(EndPhase(launch, payload, phase, fault));
            fault = {};
        }
    }
    CountSuccess(launch, payload);
    return {};
}

void PlayCores(const Play& play, int32_t index, int32_t begin, int32_t end, Fault* fault) {
    const KernelPhase& phase = play.launch.program->phases[index];
    const CoreSlice slice(play.traced, index, begin, end - begin);
    CoreContext core{
        0, fault, 1, play.launch.device->settings().isa, play.kept.memory, play.kept.bytes};
    if (play.order.empty()) {
        PlayInOrder(phase, play.payload, begin, end, &core);
        return;
    }
    for (int32_t position = begin; position < end; ++position) {
        core.index = play.order[static_cast<size_t>(position)];
        phase.run(core, play.payload);
    }
}

// The exception of a kernel, whose rules forbid it. If several cores throw, the exception of the
// lowest core counts, as on one thread.
class Thrown {
 public:
    // Called in a catch block.
    void Keep(int32_t core, const char* what) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (core < core_) {
            core_ = core;
            text_.Set(0, what);
        }
    }
    // Throws it in the thread that runs the launch.
    void Rethrow() const {
        if (core_ != kNone) {
            throw std::runtime_error(text_.message);
        }
    }

 private:
    static constexpr int32_t kNone = std::numeric_limits<int32_t>::max();

    std::mutex mutex_;
    int32_t core_ = kNone;
    FaultText text_;
};

void RunPhaseOnThreads(const Play& play, int32_t index, Fault* lowest) {
    std::mutex mutex;  // guards *lowest; taken only by chunks that met a fault
    Thrown thrown;
    const RunningWork* const work = RunningWork::innermost;
    play.launch.device->cores().Run(play.launch.coreCount, [&](int32_t begin, int32_t end) {
        const RunningWork::Share share(work);
        Fault fault;
        try {
            PlayCores(play, index, begin, end, &fault);
        } catch (const std::exception& error) {
            thrown.Keep(begin, error.what());
        } catch (...) {
            thrown.Keep(begin, TextOfCaught("not a std::exception"));
        }
        if (fault.found()) {
            const std::lock_guard<std::mutex> lock(mutex);
            if (!lowest->found() || fault.Before(*lowest)) {
                *lowest = fault;
            }
        }
    });
    thrown.Rethrow();
}

Status RunAtLength(const KernelLaunch& launch, const void* payload, const Kept& kept) {
    const Device& device = *launch.device;
    const KernelProgram& program = *launch.program;
    const std::vector<int32_t> order = device.order().Of(launch.coreCount);
    const TracedKernel traced = TracedKernel::Now(device.id(), program.call);
    const Play play{launch, payload, kept, order, traced};
    // A shuffled order is for tests, so every launch with one uses the threads.
    const bool threads =
        (launch.rows >= kRowsWorthThreads || !order.empty()) && device.cores().threads() > 1;
    for (int32_t index = 0; index < program.phaseCount; ++index) {
        const KernelPhase& phase = program.phases[index];
        const bool looks = phase.onFault == OnFault::kFinding;
        if (looks && !Sanitizing(SanitizerCheck::kSlots)) {
            continue;
        }
        const SanitizerScope own(looks);
        Fault fault;
        if (threads) {
            RunPhaseOnThreads(play, index, &fault);
        } else {
            PlayCores(play, index, 0, launch.coreCount, &fault);
        }
        if (fault.found()) {
            ADVSTEP_RETURN_IF_ERROR(EndPhase(launch, payload, phase, fault));
        }
    }
    CountSuccess(launch, payload);
    return {};
}

void DescribeKernelTask(const Task& base, TraceArgs* args) {
    const KernelLaunch& launch = static_cast<const KernelTask&>(base).launch;
    args->Add("rows", launch.rows);
    args->Add("cores", launch.coreCount);
}

// The payload is plain bytes: tiling, and the address of each tensor and of the workspace at a
// multiple of a pointer's size (operator_registry.cpp checks that). Each lies inside one
// allocation. A number that looks like an address only keeps memory for longer.
void ListKernelMemory(const Task& base, TouchedMemory* touched) {
    const auto& task = static_cast<const KernelTask&>(base);
    const auto* const payload = reinterpret_cast<const unsigned char*>(&task + 1);
    const auto* const end = reinterpret_cast<const unsigned char*>(&task) + task.bytes;
    for (const auto* next = payload; next + sizeof(uintptr_t) <= end; next += sizeof(uintptr_t)) {
        uintptr_t address = 0;
        std::memcpy(&address, next, sizeof(address));
        touched->AllocationAt(address);
    }
}

// An exception of a user's function would end the stream's claimant, under its lock. The launch
// counts as one that may take long then, and fails or succeeds by its phases.
bool IsBriefTask(const Task& base) noexcept {
    const auto& task = static_cast<const KernelTask&>(base);
    try {
        return task.launch.program->isBrief(&task + 1);
    } catch (...) {
        (void)TextOfCaught("");  // stops a pthread_exit
        LogLine(LogLevel::kError, "isBrief of an operator has thrown; expected it to return");
        return false;
    }
}

[[gnu::noinline]] Status RunMeasured(const KernelTask& task) {
    const Device& device = *task.launch.device;
    const auto begin = CoreUsage::Clock::now();
    Status status = RunKernel(task.launch, &task + 1);
    const double share = static_cast<double>(task.launch.coreCount) /
                         static_cast<double>(device.settings().soc.vectorCores);
    device.usage().Add(begin, CoreUsage::Clock::now(), share);
    return status;
}

}  // namespace

Status RunKernel(const KernelLaunch& launch, const void* payload) {
    int64_t wanted = 0;
    if (__builtin_mul_overflow(launch.rows, int64_t{launch.program->keptBytesPerRow}, &wanted)) {
        wanted = PhaseMemory::kMostBytes;  // the most that there is for any launch
    }
    const bool plain =
        launch.rows < kRowsWorthThreads && launch.device->order().ascending() && !Trace::On();
    if (plain && wanted <= kFewKeptBytes) {
        alignas(64) unsigned char few[kFewKeptBytes];
        // cppcheck-suppress legacyUninitvar ; the check phase keeps there what the commit reads
        return RunPlainly(launch, payload, {few, wanted});
    }
    const PhaseMemory::Lease lease = launch.device->cores().phaseMemory().Borrow(wanted);
    const Kept kept{lease.data(), lease.bytes()};
    return plain ? RunPlainly(launch, payload, kept) : RunAtLength(launch, payload, kept);
}

Status RunKernelTask(const Task& base) {
    const auto& task = static_cast<const KernelTask&>(base);
    if (__builtin_expect(task.launch.device->usage().On(), 0)) {
        return RunMeasured(task);
    }
    return RunKernel(task.launch, &task + 1);
}

Status RunFloatKernelTask(const Task& base) {
    const DefaultFloatEnvironment environment;
    return RunKernelTask(base);
}

Status RunKernelTaskWithin(const Task& base, uint64_t microseconds, int32_t timeoutCode) {
    const auto begin = CoreUsage::Clock::now();
    Status status = RunKernelTask(base);
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(CoreUsage::Clock::now() - begin)
            .count();
    if (status.ok() && microseconds != 0 && static_cast<uint64_t>(took) > microseconds) {
        status = Error(timeoutCode, "{}: took {} us; expected at most {} us", base.name, took,
                       microseconds);
    }
    return status;
}

Status RunOperatorTask(const Task& base) {
    const auto units = static_cast<uint64_t>(static_cast<const KernelTask&>(base).launch.timeLimit);
    return RunKernelTaskWithin(base, units * kTimeLimitUnit, ACL_ERROR_RT_VECTOR_CORE_TIMEOUT);
}

Status RunFloatOperatorTask(const Task& base) {
    const DefaultFloatEnvironment environment;
    return RunOperatorTask(base);
}

size_t KernelTask::BytesFor(const PlannedLaunch& launch) {
    return sizeof(KernelTask) + launch.payloadBytes;
}

KernelTask* KernelTask::Make(void* memory, const PlannedLaunch& launch, const void* payload) {
    auto* const task = new (memory) KernelTask;
    task->name = launch.program->call;
    task->category = TaskCategory::kKernel;
    static constexpr TaskType kType = {&DescribeKernelTask, &IsBriefTask, &ListKernelMemory};
    task->type = &kType;
    task->run = launch.run;
    task->length = launch.length;
    task->launch = launch;
    std::memcpy(task + 1, payload, launch.payloadBytes);
    return task;
}

}  // namespace advstep
