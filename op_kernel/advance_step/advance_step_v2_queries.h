// SPDX-License-Identifier: Apache-2.0
// Moves the rows of one query at a time without a branch for each: AdvanceStepV2, standard and
// vllm.

#pragma once

#include <algorithm>
#include <cstdint>

#include "op_kernel/advance_step/advance_step_v2_kernel.h"
#include "op_kernel/advance_step/advance_step_v2_lanes.h"
#include "op_kernel/common/block_math.h"
#include "op_kernel/common/kernel.h"

namespace advstep {

/// Rows of one query: all of them, or those that a core has.
struct QueryRows {
    int64_t query;
    int64_t index;  // of the first row in the query; 0: the last sampled token; j: spec token j - 1
    RowRange rows;

    int64_t count() const { return rows.end - rows.begin; }
};

template <typename Table>
class V2Queries {
 public:
    V2Queries(const CoreContext& core, const AdvanceStepV2Payload& payload)
        : t_(payload.tiling),
          a_(payload.args),
          rows_(RowsOf(core.index, t_.rowsPerCore, t_.rows, core.count)),
          kept_(reinterpret_cast<int64_t*>(core.kept)),
          keptBytes_(static_cast<uint64_t>(core.keptBytes)),
          lanes_(V2LanesFor(core.isa, t_)),
          whole_(Whole()) {}

    /// Checks the rows of the cores. Calls doubt(QueryRows) for those of a query that may be bad.
    template <typename Doubt>
    void CheckAll(const Doubt& doubt) const {
        const auto check = [&](const QueryRows& at) {
            if (!Check(at)) {
                doubt(at);
            }
        };
        ForEach({rows_.begin, whole_.begin}, check);
        ForEachGroup(
            [&](int64_t query, int64_t end) {
                constexpr bool kTables32 = sizeof(Table) == sizeof(int32_t);
                const int64_t from = lanes_->place(t_, a_, kTables32, query, end, kept_);
                if (from + lanes_->queries <= end) {
                    kept_[from * AdvanceStepV2Lanes::kKeptValues] = AdvanceStepV2Lanes::kLeftOut;
                }
                return from;
            },
            check);
        ForEach({whole_.end, rows_.end}, check);
    }

    /// Moves the rows of the cores, which have passed the check.
    void AdvanceAll() const {
        const auto advance = [&](const QueryRows& at) { Advance(at); };
        ForEach({rows_.begin, whole_.begin}, advance);
        ForEachGroup(
            [&](int64_t query, int64_t end) { return lanes_->advance(a_, query, end, kept_); },
            advance);
        ForEach({whole_.end, rows_.end}, advance);
    }

 private:
    // Returns the rows that the loops for several queries take: those of whole queries of which
    // there is memory to keep something.
    RowRange Whole() const {
        constexpr uint64_t kBytes = AdvanceStepV2Lanes::kKeptValues * sizeof(int64_t);
        const int64_t each = t_.rowsPerQuery;
        const auto kept = static_cast<int64_t>(keptBytes_ / kBytes);
        const int64_t begin = (rows_.begin + each - 1) / each * each;
        const int64_t end = std::min(rows_.end / each, kept) * each;
        return lanes_ != nullptr && begin < end ? RowRange{begin, end}
                                                : RowRange{rows_.end, rows_.end};
    }

    // Calls take(query, end) for the whole queries, which returns the first of a group that it has
    // left out, and visit(QueryRows) for those of such a group, and for the rest.
    template <typename Take, typename Visit>
    void ForEachGroup(const Take& take, const Visit& visit) const {
        const int64_t each = t_.rowsPerQuery;
        const int64_t end = whole_.end / each;
        for (int64_t query = whole_.begin / each; query < end;) {
            const int64_t from = take(query, end);
            query = std::min(end, from + lanes_->queries);
            ForEach({from * each, query * each}, visit);
        }
    }

    // Calls visit(QueryRows) for the rows, in order.
    template <typename Visit>
    void ForEach(RowRange rows, const Visit& visit) const {
        if (rows.begin >= rows.end) {
            return;
        }
        QueryRows at{rows.begin / t_.rowsPerQuery, rows.begin % t_.rowsPerQuery, rows};
        while (at.rows.begin < rows.end) {
            at.rows.end = std::min(rows.end, at.rows.begin + t_.rowsPerQuery - at.index);
            visit(at);
            at = {at.query + 1, 0, {at.rows.end, rows.end}};
        }
    }

    // Returns false if one of the rows may be bad. Keeps the slots in either case, if there is
    // room for them, since a row that may be bad can turn out good.
    bool Check(const QueryRows& at) const {
        const int64_t first = at.index == 0 ? SampledOf(at.query)[0] : 0;
        int64_t* const kept = KeptSlots(at);
        return (kept != nullptr ? Place<true>(at, kept) : Place<false>(at, nullptr)) && first >= 0;
    }

    // Moves rows that have passed the check.
    void Advance(const QueryRows& at) const {
        const AdvanceStepArgs& c = a_.common;
        int64_t* const slots = static_cast<int64_t*>(c.slotMapping) + at.rows.begin;
        if (const int64_t* const kept = KeptSlots(at); kept != nullptr) {
            for (int64_t row = 0; row < at.count(); ++row) {
                slots[row] = kept[row];
            }
        } else {
            Place<true>(at, slots);
        }
        MoveTokens(at);
        int64_t* const positions = c.inputPositions + at.rows.begin;
        int64_t* const lengths = static_cast<int64_t*>(c.seqLens) + at.rows.begin;
        const uint64_t added = AddedTo(at.query);
        for (int64_t row = 0; row < at.count(); ++row) {
            const auto position =
                static_cast<int64_t>(static_cast<uint64_t>(positions[row]) + added);
            positions[row] = position;
            lengths[row] = position + 1;
        }
    }

    // Returns the memory for the slots of these rows, or null if there is no room for all of them,
    // or if loops for several queries keep what they need there.
    int64_t* KeptSlots(const QueryRows& at) const {
        const uint64_t bytes = static_cast<uint64_t>(at.rows.end) * sizeof(int64_t);
        return lanes_ == nullptr && bytes <= keptBytes_ ? kept_ + at.rows.begin : nullptr;
    }

    const int64_t* SampledOf(int64_t query) const {
        return a_.common.sampledTokenIds + query * t_.rowsPerQuery;
    }

    uint64_t AddedTo(int64_t query) const {
        return static_cast<uint64_t>(a_.acceptedNum[query]) + 1;
    }

    // Computes the slots of the rows, and returns false if one of the rows may be bad. The numbers
    // are unsigned, so that they may wrap on a bad value. Bad values are collected in the sign bit:
    // x < 0 has it set, and so has last - x for x > last. A negative position before the step is
    // not bad, but its sum may have wrapped.
    template <bool kWrite>
    bool Place(const QueryRows& at, int64_t* slots) const {
        const BlockMath math = t_.math;
        const int64_t* const before = a_.common.inputPositions + at.rows.begin;
        const Table* const blocks =
            static_cast<const Table*>(a_.common.blockTables) + at.query * t_.blockTableStride;
        const uint64_t added = AddedTo(at.query);
        const uint64_t lastPosition = static_cast<uint64_t>(math.positions) - 1;
        const uint64_t lastBlock = static_cast<uint64_t>(math.lastBlock);
        const uint64_t blockSize = static_cast<uint64_t>(math.blockSize);
        uint64_t signs = lastBlock;
        for (int64_t row = 0; row < at.count(); ++row) {
            const uint64_t position = static_cast<uint64_t>(before[row]) + added;
            const uint64_t outside = position | (lastPosition - position);
            // A row outside reads column 0, which is there: phase one refuses a table without
            // columns.
            const uint64_t inside = (outside >> 63) - 1;
            const int64_t column = ColumnOf(math, static_cast<int64_t>(position & inside));
            const uint64_t block = static_cast<uint64_t>(static_cast<int64_t>(blocks[column]));
            signs |= outside | static_cast<uint64_t>(before[row]) | block | (lastBlock - block);
            if constexpr (kWrite) {
                slots[row] = static_cast<int64_t>(
                    (block - static_cast<uint64_t>(column)) * blockSize + position);
            }
        }
        return (signs >> 63) == 0;
    }

    // Writes the sampled token before the first negative one, and then the spec tokens.
    void MoveTokens(const QueryRows& at) const {
        int64_t* const tokens = a_.common.inputTokens + at.rows.begin;
        int64_t row = 0;
        if (at.index == 0) {
            const int64_t* const sampled = SampledOf(at.query);
            int64_t next = 1;
            while (next < t_.rowsPerQuery && sampled[next] >= 0) {
                ++next;
            }
            tokens[row++] = sampled[next - 1];
        }
        const int64_t* const spec = a_.specToken + at.query * (t_.rowsPerQuery - 1) + at.index - 1;
        for (; row < at.count(); ++row) {
            tokens[row] = spec[row];
        }
    }

    const AdvanceStepV2Tiling& t_;
    const AdvanceStepV2Args& a_;
    const RowRange rows_;
    // The loops for several queries keep values of each group there; without them it is slots.
    int64_t* const kept_;
    const uint64_t keptBytes_;
    const AdvanceStepV2Lanes* const lanes_;  // null: there are none for this launch
    const RowRange whole_;
};

}  // namespace advstep
