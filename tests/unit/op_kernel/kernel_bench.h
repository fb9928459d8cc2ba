// SPDX-License-Identifier: Apache-2.0
// Plays the AdvanceStep kernels on host arrays, core by core, in any order.
#ifndef ADVANCE_STEP_TESTS_UNIT_OP_KERNEL_KERNEL_BENCH_H_
#define ADVANCE_STEP_TESTS_UNIT_OP_KERNEL_KERNEL_BENCH_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "op_kernel/advance_step/advance_step_kernel.h"
#include "reference/advance_step_reference.h"

namespace unit {

enum class PlayOrder { kAscending, kDescending, kShuffled };
inline constexpr PlayOrder kPlayOrders[] = {PlayOrder::kAscending, PlayOrder::kDescending,
                                            PlayOrder::kShuffled};

struct Machine {
    int64_t cores = 1;  // at most; none is idle
    int64_t rowsPerTile = 1000;
    int32_t exactCores = 40;
    int64_t rowGap = 0;  // elements between the rows of blockTables
    advstep::Isa isa = advstep::Isa::kBaseline;
    int64_t keptRows = 0;  // that there is memory for from phase to phase
    int32_t merged = 1;    // cores in one call, when the order is ascending
};

struct ElementTypes {
    bool lengths32 = false;
    bool slots32 = false;
    bool tables32 = false;
};

// The values as an array of int64 or int32. What lies beside them is for the sanitizer to guard.
class TypedArray {
 public:
    TypedArray(const std::vector<int64_t>& values, bool narrow) : narrow_(narrow) {
        if (narrow) {
            for (const int64_t value : values) {
                values32_.push_back(static_cast<int32_t>(value));
            }
        } else {
            values64_ = values;
        }
    }
    void* Data() {
        return narrow_ ? static_cast<void*>(values32_.data())
                       : static_cast<void*>(values64_.data());
    }
    std::vector<int64_t> Values() const {
        return narrow_ ? std::vector<int64_t>(values32_.begin(), values32_.end()) : values64_;
    }

 private:
    bool narrow_;
    std::vector<int64_t> values64_;
    std::vector<int32_t> values32_;
};

class KernelBench {
 public:
    KernelBench(reference::AdvanceStepData data, const Machine& machine,
                const ElementTypes& types = {})
        : data_(std::move(data)),
          seqLens_(data_.seqLens, types.lengths32),
          slotMapping_(data_.slotMapping, types.slots32),
          blockTables_(Spread(data_, machine.rowGap), types.tables32),
          machine_(machine),
          kept_(static_cast<size_t>(machine.keptRows)) {
        advstep::AdvanceStepTiling& t = payload_.tiling;
        t.rowsPerCore = (data_.numSeqs + machine.cores - 1) / machine.cores;
        t.coreCount = static_cast<int32_t>((data_.numSeqs + t.rowsPerCore - 1) / t.rowsPerCore);
        t.exactCores = machine.exactCores;
        t.rowsPerTile = machine.rowsPerTile;
        t.numSeqs = data_.numSeqs;
        t.numQueries = data_.numQueries;
        t.blockSize = data_.blockSize;
        t.maxBlocks = data_.maxBlocks;
        t.blockTableStride = data_.maxBlocks + machine.rowGap;
        t.math = advstep::MakeBlockMath(t.blockSize, t.maxBlocks,
                                        types.lengths32 ? INT32_MAX : INT64_MAX,
                                        types.slots32 ? INT32_MAX : INT64_MAX);
        payload_.args = {data_.inputTokens.data(),    data_.sampledTokenIds.data(),
                         data_.inputPositions.data(), seqLens_.Data(),
                         slotMapping_.Data(),         blockTables_.Data()};
    }
    KernelBench(const KernelBench&) = delete;
    KernelBench& operator=(const KernelBench&) = delete;

    // The fault of the lowest row; every core keeps a fault of its own.
    advstep::Fault Play(advstep::KernelFn phase, PlayOrder order) {
        std::vector<int32_t> cores(static_cast<size_t>(payload_.tiling.coreCount));
        std::iota(cores.begin(), cores.end(), 0);
        if (order == PlayOrder::kDescending) {
            std::reverse(cores.begin(), cores.end());
        } else if (order == PlayOrder::kShuffled) {
            std::shuffle(cores.begin(), cores.end(), std::mt19937(17));
        }
        const int32_t merged = order == PlayOrder::kAscending ? machine_.merged : 1;
        const auto coreCount = static_cast<int32_t>(cores.size());
        advstep::Fault lowest;
        for (int32_t at = 0; at < coreCount; at += merged) {
            advstep::Fault fault;
            advstep::CoreContext core;
            core.index = cores[static_cast<size_t>(at)];
            core.count = std::min(merged, coreCount - at);
            core.isa = machine_.isa;
            core.fault = &fault;
            core.kept = reinterpret_cast<unsigned char*>(kept_.data());
            core.keptBytes = machine_.keptRows * static_cast<int64_t>(sizeof(int64_t));
            phase(core, &payload_);
            if (fault.found() && (!lowest.found() || fault.row < lowest.row)) {
                lowest = fault;
            }
        }
        return lowest;
    }

    // Every tensor as it is now.
    reference::AdvanceStepData Data() const {
        reference::AdvanceStepData now = data_;
        now.seqLens = seqLens_.Values();
        now.slotMapping = slotMapping_.Values();
        return now;
    }

 private:
    // Rows further apart, with a block id between them that no kernel may use.
    static std::vector<int64_t> Spread(const reference::AdvanceStepData& data, int64_t gap) {
        std::vector<int64_t> spread;
        for (int64_t row = 0; row < data.numSeqs; ++row) {
            const auto begin = data.blockTables.begin() + row * data.maxBlocks;
            spread.insert(spread.end(), begin, begin + data.maxBlocks);
            spread.insert(spread.end(), row + 1 < data.numSeqs ? static_cast<size_t>(gap) : 0U,
                          -77);
        }
        return spread;
    }

    reference::AdvanceStepData data_;
    TypedArray seqLens_;
    TypedArray slotMapping_;
    TypedArray blockTables_;
    const Machine machine_;
    std::vector<int64_t> kept_;
    advstep::AdvanceStepPayload payload_{};
};

inline testing::AssertionResult Same(const reference::AdvanceStepData& actual,
                                     const reference::AdvanceStepData& expected) {
    static constexpr const char* kNames[] = {"inputTokens", "sampledTokenIds", "inputPositions",
                                             "seqLens",     "slotMapping",     "blockTables"};
    for (size_t tensor = 0; tensor < 6; ++tensor) {
        const std::vector<int64_t>& a = *actual.Tensors()[tensor];
        const std::vector<int64_t>& b = *expected.Tensors()[tensor];
        for (size_t i = 0; i < b.size(); ++i) {
            if (a[i] != b[i]) {
                return testing::AssertionFailure()
                       << kNames[tensor] << "[" << i << "] is " << a[i] << ", expected " << b[i];
            }
        }
    }
    return testing::AssertionSuccess();
}

// The same query and rule as the reference names; the kinds of both stand in the same order.
inline testing::AssertionResult SameFault(
    const advstep::Fault& actual, const std::optional<reference::AdvanceStepError>& expected) {
    const int64_t row = expected ? expected->query : advstep::Fault::kNone;
    const int32_t kind = expected ? static_cast<int32_t>(expected->fault) : 0;
    return actual.row == row && actual.kind == kind
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << "row " << actual.row << " kind " << actual.kind
                                             << ", expected row " << row << " kind " << kind;
}

}  // namespace unit

#endif  // ADVANCE_STEP_TESTS_UNIT_OP_KERNEL_KERNEL_BENCH_H_
