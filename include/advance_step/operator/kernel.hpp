// SPDX-License-Identifier: Apache-2.0
/// Kernels of an operator: functions of a core and a payload, in phases. Part of operator.h.
///
/// The structures here cross the boundary between an operator's library and this one, so they are
/// plain data. ADVSTEP_OPERATOR_INTERFACE counts their changes.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_KERNEL_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_KERNEL_HPP_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace advance_step::op {

/// The instruction sets that kernels may be compiled for, from the same source.
enum class Isa : int32_t {
    kBaseline,  ///< the compiler's default for the architecture
    kAvx2,
    kAvx512,  ///< f, bw, dq and vl
};

/// The first error that a phase has found, as plain values. The host side puts it into words.
struct Fault {
    /// The row of no fault.
    static constexpr int64_t kNone = -1;

    int64_t row = kNone;      ///< of work; of several faults the lowest row is reported
    int32_t kind = 0;         ///< from the operator's own enumeration
    uint16_t part = 0;        ///< of the launch; distinguishes faults of one row
    uint16_t valueCount = 0;  ///< of a kernel whose kinds have no words of their own
    int64_t values[4]{};      ///< the values of the message

    /// Returns whether there is a fault.
    bool found() const { return row != kNone; }
    /// Returns whether this fault is the one to report, of two that were found.
    bool Before(const Fault& other) const {
        return row != other.row ? row < other.row : part < other.part;
    }
};

/// The view that one simulated core has of a launch, or that of `count` consecutive cores which run
/// in one call (KernelPhase::merges). Cores share a `fault` only if they run one after the other on
/// the same thread.
struct CoreContext {
    int32_t index = 0;         ///< of the core; of the first core if there are several
    Fault* fault = nullptr;    ///< written by Report
    int32_t count = 1;         ///< cores in this call
    Isa isa = Isa::kBaseline;  ///< one that this machine has
    /// Memory of the whole launch, which all phases see. It stands for the unified buffers of the
    /// cores. There may be less than KernelProgram::keptBytesPerRow for each row, or none.
    unsigned char* kept = nullptr;
    int64_t keptBytes = 0;  ///< bytes of `kept`

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
/// in any order on any number of threads. It does not allocate, lock, log or throw.
using KernelFn = void (*)(const CoreContext& core, const void* payload);

/// The effect of a fault in a phase: the launch fails, or the log gets a warning.
enum class OnFault : int32_t { kFail, kWarn };

/// A phase begins when the one before it has ended on every core.
struct KernelPhase {
    KernelFn run = nullptr;            ///< called for each core with work
    OnFault onFault = OnFault::kFail;  ///< kFail: later phases do not run
    bool merges = false;               ///< `run` takes several cores at a time
};

/// The work of a launch that succeeded, for the counters of the device (counters.h).
struct LaunchCounts {
    int64_t advanced = 0;
    int64_t padded = 0;
    int64_t released = 0;
    int64_t needed = 0;
    int64_t preempted = 0;
    int64_t dispatched = 0;
    int64_t recovered = 0;
};

/// The words of a fault inside a library.
struct FaultReport {
    int32_t code = 0;
    std::string message;
};

/// The words of a fault on their way from an operator's library to this one.
struct FaultText {
    int32_t code = 0;      ///< of errors.md; ACL_ERROR_RT_VECTOR_CORE_EXCEPTION for bad data
    char message[1020]{};  ///< ends with 0; longer words are cut

    /// Sets both.
    void Set(int32_t itsCode, std::string_view words) noexcept {
        code = itsCode;
        const size_t length = std::min(words.size(), sizeof(message) - 1);
        std::memcpy(message, words.data(), length);
        message[length] = '\0';
    }
};

/// Puts a fault of a launch with this payload into words. It does not throw.
using DescribeFn = void (*)(const Fault& fault, const void* payload, FaultText* text);

/// A DescribeFn that returns the words of kDescribe. Without the memory for them it reports the
/// numbers of the fault.
template <FaultReport (*kDescribe)(const Fault& fault, const void* payload)>
[[gnu::visibility("hidden")]] void InWords(const Fault& fault, const void* payload,
                                           FaultText* text) noexcept {
#if defined(__cpp_exceptions)
    try {
        const FaultReport report = kDescribe(fault, payload);
        text->Set(report.code, report.message);
    } catch (...) {
        text->Set(0, "a data fault; no memory was left to say more");
    }
#else
    const FaultReport report = kDescribe(fault, payload);
    text->Set(report.code, report.message);
#endif
}

/// The kernel of an operator in one of its variants. Static data: queued launches point to it.
struct KernelProgram {
    /// The most phases of a program.
    static constexpr int32_t kMostPhases = 6;

    const char* call = nullptr;                            ///< name of the phase-two function
    int32_t phaseCount = 0;                                ///< entries of `phases`
    KernelPhase phases[kMostPhases]{};                     ///< in the order of their run
    DescribeFn describe = nullptr;                         ///< null: a fault is reported as numbers
    LaunchCounts (*count)(const void* payload) = nullptr;  ///< after a success; may be null
    int32_t keptBytesPerRow = 0;                           ///< that a phase can leave to the next
    bool evenRows = false;  ///< every row takes about the same time, and little of it
    /// The first two phases in one call, for a thread that runs all cores in order. The second runs
    /// only if the first has found no fault. Null if there is no such function.
    KernelFn firstTwo = nullptr;
};

/// A program of the phases of `run`, in order, each of which stops the launch by a fault.
/// @param[in] call  name of the phase-two function, static text
constexpr KernelProgram MakeKernelProgram(const char* call, DescribeFn describe,
                                          std::initializer_list<KernelFn> run) {
    KernelProgram program;
    program.call = call;
    program.describe = describe;
    for (const KernelFn phase : run) {
        if (program.phaseCount < KernelProgram::kMostPhases) {
            program.phases[program.phaseCount++].run = phase;
        }
    }
    return program;
}

/// Consecutive rows of work.
struct RowRange {
    int64_t begin = 0;  ///< the first row
    int64_t end = 0;    ///< after the last row
};

/// The rows of a core, or of `count` cores from it on. Consecutive cores have consecutive rows; the
/// last core may have fewer.
inline RowRange RowsOf(int32_t core, int64_t rowsPerCore, int64_t rows, int32_t count = 1) {
    const int64_t begin = std::min(core * rowsPerCore, rows);
    return {begin, std::min(begin + count * rowsPerCore, rows)};
}

/// Calls visit(RowRange) for the pieces of a range that fit a core's buffer, in order.
template <typename Visit>
void ForEachTile(RowRange range, int64_t rowsPerTile, Visit&& visit) {
    for (int64_t begin = range.begin; begin < range.end; begin += rowsPerTile) {
        visit(RowRange{begin, std::min(begin + rowsPerTile, range.end)});
    }
}

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_KERNEL_HPP_
