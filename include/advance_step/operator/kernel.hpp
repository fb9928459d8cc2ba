// SPDX-License-Identifier: Apache-2.0
/// Kernels of an operator. A kernel is a series of phases, which are functions of a core and a
/// payload. Part of operator.h.
///
/// The structures here cross the boundary between an operator's library and this one, so they are
/// plain data. Every change of them increments ADVSTEP_OPERATOR_INTERFACE.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_KERNEL_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_KERNEL_HPP_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <new>
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

/// The first error that a phase has found, as plain values. A DescribeFn puts it into words.
struct Fault {
    /// The row if there is no fault.
    static constexpr int64_t kNone = -1;
    /// The row of a fault that belongs to no row. It is lower than all rows.
    static constexpr int64_t kNoRow = -2;

    int64_t row = kNone;      ///< the row of work; the fault of the lowest row is reported
    int32_t kind = 0;         ///< a value of the operator's own enumeration
    uint16_t part = 0;        ///< the core or block that reports it; orders faults of one row
    uint16_t valueCount = 0;  ///< values in use, for kernels whose kinds have no words
    int64_t values[4]{};      ///< the values of the message

    /// Returns whether there is a fault.
    bool found() const { return row != kNone; }
    /// Returns whether this fault, and not the other one, is to be reported.
    bool Before(const Fault& other) const {
        return row != other.row ? row < other.row : part < other.part;
    }
};

/// The properties of a launch for one simulated core, or for `count` consecutive cores that run in
/// one call (KernelPhase::merges). Cores share a `fault` only if they run one after the other on
/// the same thread.
struct CoreContext {
    int32_t index = 0;         ///< the core's number; that of the first core if there are several
    Fault* fault = nullptr;    ///< written by Report
    int32_t count = 1;         ///< cores in this call
    Isa isa = Isa::kBaseline;  ///< the instruction set to use, which this machine has
    /// Memory of the whole launch, which all phases may use, in place of the unified buffers of the
    /// cores. There may be less than KernelProgram::keptBytesPerRow for each row, or none.
    unsigned char* kept = nullptr;
    int64_t keptBytes = 0;  ///< bytes of `kept`

    /// Reports a fault. The one of the lowest row is kept, and of several in one row the first one
    /// of the lowest core.
    /// @param[in] row  a negative number means that the fault belongs to no row: Fault::kNoRow
    void Report(int64_t row, int32_t kind, std::initializer_list<int64_t> values) const {
        Fault reported;
        reported.row = row < 0 ? Fault::kNoRow : row;
        reported.kind = kind;
        reported.part = static_cast<uint16_t>(index);
        if (fault->found() && !reported.Before(*fault)) {
            return;
        }
        const size_t used = std::min(values.size(), std::size(reported.values));
        reported.valueCount = static_cast<uint16_t>(used);
        std::copy_n(values.begin(), used, reported.values);
        *fault = reported;
    }
};

/// Runs the part of one core. It writes only data that no other core uses in this phase, so cores
/// may run in any order on any number of threads. It does not allocate, lock, log or throw. It runs
/// in the default floating-point environment, and leaves the rounding mode as it was.
using KernelFn = void (*)(const CoreContext& core, const void* payload);

/// The effect of a fault in a phase: the launch fails, the log gets a warning, or the sanitizer
/// (ADVANCE_STEP_SANITIZE) gets a finding. A phase of kFinding only looks at what the launch has
/// done, runs only under the sanitizer, and may allocate. Its fault is worded "kind: words", where
/// kind is same_slot, shared_block, free_block_used or another word.
enum class OnFault : int32_t { kFail, kWarn, kFinding };

/// A phase begins when the one before it has ended on every core.
struct KernelPhase {
    KernelFn run = nullptr;            ///< called for each core with work
    OnFault onFault = OnFault::kFail;  ///< kFail: later phases do not run
    bool merges = false;               ///< `run` takes several cores at a time
};

/// The names of the numbers that the launches of an operator add to the counters of their device. A
/// device counts by name, and advstepReadCounters (counters.h) returns what it knows the names of.
/// A process keeps the counters of the first 16 tables of names that launches have used.
struct CounterNames {
    /// The most counters of an operator.
    static constexpr int32_t kMost = 8;

    int32_t count = 0;           ///< entries of `names` in use
    const char* names[kMost]{};  ///< static texts
};

/// Writes the work of a launch with this payload, which has succeeded: a number for each of
/// KernelProgram::counters. The numbers are 0 before.
using CountFn = void (*)(const void* payload, int64_t* numbers);

/// The words of a fault inside one library.
struct FaultReport {
    int32_t code = 0;
    std::string message;
};

/// The words of a fault, as an operator's library passes them to this one.
struct FaultText {
    int32_t code = 0;      ///< a code of errors.md; 0: ACL_ERROR_RT_VECTOR_CORE_EXCEPTION
    char message[1020]{};  ///< ends with 0; longer words are cut

    /// Sets the code and the message.
    void Set(int32_t itsCode, std::string_view words) noexcept {
        code = itsCode;
        const size_t length = std::min(words.size(), sizeof(message) - 1);
        std::memcpy(message, words.data(), length);
        message[length] = '\0';
    }
};

/// Puts a fault of a launch with this payload into words. It does not throw.
using DescribeFn = void (*)(const Fault& fault, const void* payload, FaultText* text);

/// A DescribeFn that returns the words of kDescribe. If there is no memory for them, it returns a
/// fixed text, which does not describe the fault. Another exception of kDescribe fails the launch.
template <FaultReport (*kDescribe)(const Fault& fault, const void* payload)>
[[gnu::visibility("hidden")]] void InWords(const Fault& fault, const void* payload,
                                           FaultText* text) {
#if defined(__cpp_exceptions)
    try {
        const FaultReport report = kDescribe(fault, payload);
        text->Set(report.code, report.message);
    } catch (const std::bad_alloc&) {
        text->Set(0, "a data fault; no memory was left to say more");
    }
#else
    const FaultReport report = kDescribe(fault, payload);
    text->Set(report.code, report.message);
#endif
}

/// A kernel of an operator, in one of its variants. It is static data: queued launches point to it.
struct KernelProgram {
    /// The most phases of a program.
    static constexpr int32_t kMostPhases = 6;

    const char* call = nullptr;              ///< name of the phase-two function
    int32_t phaseCount = 0;                  ///< entries of `phases` in use
    KernelPhase phases[kMostPhases]{};       ///< in the order of their run
    DescribeFn describe = nullptr;           ///< null: a fault is reported as numbers
    CountFn count = nullptr;                 ///< called after a success; null: nothing is counted
    const CounterNames* counters = nullptr;  ///< what `count` counts; static data
    int32_t keptBytesPerRow = 0;             ///< bytes of CoreContext::kept it wants
    /// Every row takes about the same time, and little of it, so a launch of few rows is short
    /// work. Otherwise each launch counts as long, unless its plan or isBrief says more: threads
    /// that wait with a timeout do not run it.
    bool evenRows = false;
    /// The results are the same in every floating-point environment, so launches need not set the
    /// default one.
    bool anyRounding = false;
    /// Runs the first two phases in one call, for a thread that runs all cores in order. The second
    /// phase runs only if the first has found no fault. Both phases are of OnFault::kFail. Null if
    /// there is no such function.
    KernelFn firstTwo = nullptr;
    /// Returns whether a launch of few rows is brief, which takes at most a few us. Its data
    /// decide: it is called right before the launch, when everything before it in the stream has
    /// ended, perhaps several times and on any thread. It reads little, takes no lock and does not
    /// throw. Null: the data tell nothing.
    bool (*isBrief)(const void* payload) = nullptr;
};

/// Returns a program of the phases in `run`, in order. A fault in any of them fails the launch. A
/// program of more than kMostPhases phases has their number, by which phase one refuses its plan.
/// @param[in] call  name of the phase-two function, static text
constexpr KernelProgram MakeKernelProgram(const char* call, DescribeFn describe,
                                          std::initializer_list<KernelFn> run) {
    KernelProgram program;
    program.call = call;
    program.describe = describe;
    for (const KernelFn phase : run) {
        if (program.phaseCount < KernelProgram::kMostPhases) {
            program.phases[program.phaseCount].run = phase;
        }
        ++program.phaseCount;
    }
    return program;
}

/// Consecutive rows of work.
struct RowRange {
    int64_t begin = 0;  ///< the first row
    int64_t end = 0;    ///< after the last row
};

/// Returns the rows of a core, or of `count` cores from that one on. Consecutive cores have
/// consecutive rows; the last core may have fewer.
inline RowRange RowsOf(int32_t core, int64_t rowsPerCore, int64_t rows, int32_t count = 1) {
    const int64_t begin = std::min(core * rowsPerCore, rows);
    return {begin, std::min(begin + count * rowsPerCore, rows)};
}

/// Calls visit(RowRange) for the pieces of a range, in order. Each piece has at most rowsPerTile
/// rows, which fit a core's buffer.
template <typename Visit>
void ForEachTile(RowRange range, int64_t rowsPerTile, Visit&& visit) {
    for (int64_t begin = range.begin; begin < range.end; begin += rowsPerTile) {
        visit(RowRange{begin, std::min(begin + rowsPerTile, range.end)});
    }
}

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_KERNEL_HPP_
