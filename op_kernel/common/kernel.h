// What a kernel is to the machine that runs it: functions of (core, payload), in phases.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>

#include "op_kernel/common/isa.h"

namespace advstep {

/// The first thing wrong that a phase met, as plain values; the host side words it.
struct Fault {
    static constexpr int64_t kNone = -1;

    int64_t row = kNone;
    int32_t kind = 0;     // of the operator's own enumeration
    int64_t values[4]{};  // what the kind's message needs

    bool found() const { return row != kNone; }
};

/// One simulated core's view of a launch, or that of `count` consecutive ones which are played in
/// one call (KernelPhase::merges). `fault` is its own, or shared with cores that run before or
/// after it on the same thread, never at the same time.
struct CoreContext {
    int32_t index = 0;
    Fault* fault = nullptr;
    int32_t count = 1;
    Isa isa = Isa::kBaseline;  // one that this machine runs
    // Memory of the whole launch, which all phases see: it stands for the cores' unified buffers.
    // May be less than KernelProgram::keptBytesPerRow for every row, or nothing.
    unsigned char* kept = nullptr;
    int64_t keptBytes = 0;

    /// Keeps the fault of the lowest row.
    void Report(int64_t row, int32_t kind, std::initializer_list<int64_t> values) const {
        if (fault->found() && fault->row <= row) {
            return;
        }
        *fault = Fault{};
        fault->row = row;
        fault->kind = kind;
        std::copy_n(values.begin(), std::min(values.size(), std::size(fault->values)),
                    fault->values);
    }
};

/// Runs one core's part. Touches only what that core owns in this phase, so cores may run in any
/// order on any number of threads. No allocation, lock or log in here.
using KernelFn = void (*)(const CoreContext& core, const void* payload);

enum class OnFault : int32_t { kFail, kWarn };

/// A phase begins when the one before it has ended on every core.
struct KernelPhase {
    KernelFn run = nullptr;
    OnFault onFault = OnFault::kFail;  // kFail: later phases do not run
    bool merges = false;               // `run` takes several cores at a time
};

/// What a launch that succeeded has done, for the device's counters.
struct LaunchCounts {
    int64_t advanced = 0;
    int64_t padded = 0;
    int64_t released = 0;
    int64_t needed = 0;
    int64_t preempted = 0;
    int64_t dispatched = 0;
    int64_t recovered = 0;
};

struct FaultReport {
    int32_t code = 0;
    std::string message;
};

/// The kernel of an operator in one of its variants; static data.
struct KernelProgram {
    static constexpr int32_t kMostPhases = 6;

    const char* call = nullptr;  // name of the phase-two function
    int32_t phaseCount = 0;
    KernelPhase phases[kMostPhases]{};
    FaultReport (*describe)(const Fault& fault, const void* payload) = nullptr;
    LaunchCounts (*count)(const void* payload) = nullptr;  // after a success
    int32_t keptBytesPerRow = 0;  // what a phase can make use of from the one before it
    bool evenRows = false;        // a row takes about the same time, whatever is in it
    /// The first two phases in one call, for a thread that plays all cores in order: the first,
    /// which fails the launch, and if it has met no fault the second. Null: there is none.
    KernelFn firstTwo = nullptr;
};

}  // namespace advstep
