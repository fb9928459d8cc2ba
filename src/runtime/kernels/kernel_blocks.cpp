// SPDX-License-Identifier: Apache-2.0
// Runs blocks on cores, keeps their faults and puts these into words, and names blocks that crash.

#include "src/runtime/kernels/kernel_blocks.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <string>

#include "acl/acl_base.h"
#include "advance_step/kernel.h"
#include "src/base/boundary.h"
#include "src/base/crash_signal.h"
#include "src/base/float_environment.h"
#include "src/base/log.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/base/trace_event.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

// The report of a crash. DescribeBlock runs in the signal handler.

/// The block of a kernel that a thread runs.
struct RunningBlock {
    const char* name = nullptr;  // never freed; null: the thread runs none
    uint32_t block = 0;
    uint32_t count = 0;
};

// The model is initial-exec, so that a signal handler may read the variable.
[[gnu::tls_model("initial-exec")]] thread_local RunningBlock runningBlock;

void SetRunningBlock(const RunningBlock& block) noexcept {
    runningBlock.name = nullptr;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    runningBlock.block = block.block;
    runningBlock.count = block.count;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    runningBlock.name = block.name;
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// Marks the block as the one that the calling thread runs, until the end of the scope.
class RunningBlockScope {
 public:
    explicit RunningBlockScope(const RunningBlock& block) noexcept : before_(runningBlock) {
        SetRunningBlock(block);
    }
    ~RunningBlockScope() { SetRunningBlock(before_); }
    RunningBlockScope(const RunningBlockScope&) = delete;
    RunningBlockScope& operator=(const RunningBlockScope&) = delete;

 private:
    const RunningBlock before_;
};

void DescribeBlock(int signal, const siginfo_t& info, const void*) {
    if (runningBlock.name == nullptr || !RaisedByProcess(info)) {
        return;
    }
    SignalLine line;
    line << "advance_step error: " << runningBlock.name << ": block ";
    line.Number(runningBlock.block) << " of ";
    line.Number(runningBlock.count);
    (line.Crash(signal, info) << "; expected a kernel that returns").Write();
}

// The run of a block, and its faults.

// The row numbers of faults that belong to no row. They are lower than all rows, so these faults
// are reported first.
constexpr int64_t kNoRow = Fault::kNoRow;
constexpr int64_t kThrown = kNoRow - 1;
constexpr int64_t kReturned = kNoRow - 2;

struct Programs {
    std::mutex mutex;  // guards the map, whose entries never change and are never removed
    std::map<std::string, KernelProgram> byName;
};

/// The context of one block. Only the thread that runs the block writes the fault.
struct BlockContext : AdvstepKernelContext {
    Fault* fault;
};

void KeepFirst(Fault* first, const Fault& fault) {
    if (!first->found() || fault.Before(*first)) {
        *first = fault;
    }
}

Fault FaultOf(uint32_t block, int64_t row) {
    Fault fault;
    fault.row = row;
    fault.part = static_cast<uint16_t>(block);
    return fault;
}

void ReportFault(AdvstepKernelContext* context, int64_t row, int32_t kind, const int64_t* values,
                 uint32_t valueCount) {
    Fault fault = FaultOf(context->blockIndex, row < 0 ? kNoRow : row);
    fault.kind = kind;
    const uint32_t count =
        values != nullptr ? std::min<uint32_t>(valueCount, ADVSTEP_KERNEL_FAULT_VALUES) : 0;
    fault.valueCount = static_cast<uint16_t>(count);
    std::copy_n(values, count, fault.values);
    KeepFirst(static_cast<BlockContext*>(context)->fault, fault);
}
static_assert(sizeof(Fault::values) == ADVSTEP_KERNEL_FAULT_VALUES * sizeof(int64_t));

void CallEntry(const KernelBlocks& blocks, void* args, uint32_t block, Fault* fault) {
    if (blocks.cpu) {
        const uint32_t result = reinterpret_cast<uint32_t (*)(void*)>(blocks.entry)(args);
        if (result != 0) {
            Fault returned = FaultOf(block, kReturned);
            returned.values[0] = result;
            KeepFirst(fault, returned);
        }
        return;
    }
    BlockContext context;
    context.blockIndex = block;
    context.blockCount = blocks.count;
    context.reportFault = &ReportFault;
    context.fault = fault;
    reinterpret_cast<AdvstepKernel>(blocks.entry)(&context, args);
}

void* ArgsOf(const KernelBlocks& blocks) {
    const auto* const inside = reinterpret_cast<const unsigned char*>(&blocks) + blocks.argsAt;
    return const_cast<void*>(blocks.deviceArgs != nullptr ? blocks.deviceArgs : inside);
}

void RunBlock(const KernelBlocks& blocks, const char* name, uint32_t block, Fault* fault) {
    const RunningBlockScope running({name, block, blocks.count});
    try {
        CallEntry(blocks, ArgsOf(blocks), block, fault);
    } catch (const std::exception& error) {
        Log(LogLevel::kError, "{}: block {} of {} threw an exception: {}", name, block,
            blocks.count, error.what());
        KeepFirst(fault, FaultOf(block, kThrown));
    } catch (...) {
        Log(LogLevel::kError, "{}: block {} of {} threw an exception: {}", name, block,
            blocks.count, TextOfCaught("not a std::exception"));
        KeepFirst(fault, FaultOf(block, kThrown));
    }
}

/// Returns the record of a payload. It has the program, whose name RunningBlock needs.
const KernelTask& RecordOf(const void* payload) {
    return static_cast<const KernelTask*>(payload)[-1];
}

// Runs the blocks of one core. They may run on any thread, also on one of the program.
void RunCore(const CoreContext& core, const void* payload) {
    const auto& blocks = *static_cast<const KernelBlocks*>(payload);
    const char* const name = RecordOf(payload).launch.program->call;
    EnsureAlternateStack();
    const NoCancellation noCancellation;
    const DefaultFloatEnvironment environment;
    const TaskScope task;
    for (auto block = static_cast<uint32_t>(core.index); block < blocks.count;
         block += blocks.cores) {
        RunBlock(blocks, name, block, core.fault);
    }
}

std::string Words(const Fault& fault, uint32_t count) {
    const std::string block = fmt::format("block {} of {}", fault.part, count);
    if (fault.row == kReturned) {
        return fmt::format("{} returned {}; expected 0", block, fault.values[0]);
    }
    if (fault.row == kThrown) {
        return fmt::format("{} threw an exception; expected a kernel that returns", block);
    }
    std::string text =
        fault.row == kNoRow ? std::string("the data") : fmt::format("row {}", fault.row);
    text += fmt::format(" has a fault of kind {}", fault.kind);
    for (int index = 0; index < fault.valueCount; ++index) {
        text += fmt::format("{}{}", index == 0 ? " with " : ", ", fault.values[index]);
    }
    return text + fmt::format(", which {} reports; expected none", block);
}

FaultReport DescribeFault(const Fault& fault, const void* payload) {
    const auto& blocks = *static_cast<const KernelBlocks*>(payload);
    return {blocks.faultCode, Words(fault, blocks.count)};
}

// Fills the placeholders with the addresses of their data. It runs when the record, which has the
// data, does not move any more.
void FillPlaceholders(KernelBlocks* blocks) {
    auto* const args = reinterpret_cast<unsigned char*>(blocks) + blocks->argsAt;
    const auto* const placeholders = reinterpret_cast<const ArgumentPlaceholder*>(blocks + 1);
    for (uint32_t index = 0; index < blocks->placeholders; ++index) {
        const void* const address = args + placeholders[index].data;
        std::memcpy(args + placeholders[index].address, &address, sizeof(address));
    }
}

}  // namespace

// The functions of the header.

const KernelProgram* ProgramOfKernel(const char* name) {
    static NeverDestroyed<Programs> all;
    Programs& programs = *all;
    const std::lock_guard<std::mutex> lock(programs.mutex);
    const auto [named, added] = programs.byName.try_emplace(name);
    if (added) {
        named->second.call = named->first.c_str();
        named->second.phaseCount = 1;
        named->second.phases[0].run = &RunCore;
        named->second.describe = &InWords<&DescribeFault>;
    }
    return &named->second;
}

Status RunKernelBlocks(const Task& base) {
    // A record belongs to the thread that runs it.
    auto* const blocks = reinterpret_cast<KernelBlocks*>(
        const_cast<KernelTask*>(static_cast<const KernelTask*>(&base)) + 1);
    FillPlaceholders(blocks);
    return RunKernelTaskWithin(base, blocks->microseconds, blocks->timeoutCode);
}

void DescribeKernelBlocks(const Task& base, TraceArgs* args) {
    const auto& task = static_cast<const KernelTask&>(base);
    args->Add("blocks", reinterpret_cast<const KernelBlocks*>(&task + 1)->count);
    args->Add("cores", task.launch.coreCount);
}

void DescribeKernelCrashes() {
    DescribeCrashes({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}, &DescribeBlock);
}

}  // namespace advstep
