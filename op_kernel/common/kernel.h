// SPDX-License-Identifier: Apache-2.0
// The interface between a kernel and the machine that runs it: functions of (core, payload), in
// phases.

#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>

#include "op_kernel/common/isa.h"

namespace advstep {

/// The first error that a phase has found, as plain values. The host side puts it into words.
struct Fault {
    static constexpr int64_t kNone = -1;

    int64_t row = kNone;
    int32_t kind = 0;   // from the operator's own enumeration
    uint16_t part = 0;  // of the launch; tells faults of one row apart, where there can be several
    uint16_t valueCount = 0;  // of a kernel whose kinds have no words of their own
    int64_t values[4]{};      // the values of the message

    bool found() const { return row != kNone; }
    /// Whether this fault is the one to tell, of two that were found.
    bool Before(const Fault& other) const {
        return row != other.row ? row < other.row : part < other.part;
    }
};

/// The view that one simulated core has of a launch, or that of `count` consecutive cores which run
/// in one call (KernelPhase::merges). Cores share a `fault` only if they run one after the other on
/// the same thread.
struct CoreContext {
    int32_t index = 0;
    Fault* fault = nullptr;
    int32_t count = 1;
    Isa isa = Isa::kBaseline;  // one that this machine has
    // Memory of the whole launch, which all phases see. It stands for the unified buffers of the
    // cores. There may be less than KernelProgram::keptBytesPerRow for each row, or none.
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

/// Runs the part of one core. It touches only what that core owns in this phase, so cores may run
/// in any order on any number of threads. It does not allocate, lock or log.
using KernelFn = void (*)(const CoreContext& core, const void* payload);

enum class OnFault : int32_t { kFail, kWarn };

/// A phase begins when the one before it has ended on every core.
struct KernelPhase {
    KernelFn run = nullptr;
    OnFault onFault = OnFault::kFail;  // kFail: later phases do not run
    bool merges = false;               // `run` takes several cores at a time
};

/// The work of a launch that succeeded, for the counters of the device.
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
    int32_t keptBytesPerRow = 0;                           // that a phase can leave to the next
    bool evenRows = false;                                 // every row takes about the same time
    /// The first two phases in one call, for a thread that runs all cores in order. The second runs
    /// only if the first has found no fault. Null if there is no such function.
    KernelFn firstTwo = nullptr;
};

}  // namespace advstep
