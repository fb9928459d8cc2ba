// SPDX-License-Identifier: Apache-2.0
// The kernels of AdvanceStepMulti: check every step of every query, then commit.

#include "op_kernel/advance_step/advance_step_multi_kernel.h"

#include "op_kernel/advance_step/advance_step_pieces.h"
#include "op_kernel/advance_step/advance_step_slots.h"

namespace advstep {
namespace {

const AdvanceStepMultiPayload& Payload(const void* payload) {
    return *static_cast<const AdvanceStepMultiPayload*>(payload);
}

/// Returns the tensors of one step, as those of AdvanceStep.
template <typename Rows>
AdvanceStepArgs ArgsOf(const AdvanceStepMultiPayload& p, int64_t step) {
    AdvanceStepArgs args = p.args;
    args.sampledTokenIds += step * p.tiling.rows.numQueries;
    args.slotMapping =
        static_cast<typename Rows::SlotType*>(args.slotMapping) + step * p.tiling.rows.numSeqs;
    return args;
}

/// Returns the length of a query before a step. It wraps, as the lengths of conformance exact do;
/// the other conformances find a fault before that.
template <typename Rows>
int64_t PositionAt(const AdvanceStepMultiPayload& p, int64_t query, int64_t step) {
    return static_cast<int64_t>(static_cast<uint64_t>(Rows::PositionOf(p.args, query)) +
                                static_cast<uint64_t>(step));
}

// Checks the steps in order, so that the first fault of a query is its lowest.
template <typename Rows>
void Check(const CoreContext& core, const void* payload) {
    const AdvanceStepMultiPayload& p = Payload(payload);
    const AdvanceStepMultiTiling& t = p.tiling;
    Pieces<Rows> pieces(core, t.rows, p.args);
    for (int64_t step = 0; step < t.steps; ++step) {
        pieces.Check({step, step}, [&](bool good, RowRange rows) {
            for (int64_t row = rows.begin; !good && row < rows.end; ++row) {
                TokenPlace place;
                place.position = PositionAt<Rows>(p, row, step);
                const AdvanceStepFault fault = Rows::Place(t.rows, p.args, row, &place);
                ReportPlace(core, AdvanceStepMultiRow{step, row}.FaultRow(t), fault, place);
            }
        });
        const int64_t laterRows = AdvanceStepMultiRow{step + 1, 0}.FaultRow(t);
        if (core.fault->found() && core.fault->row < laterRows) {
            return;
        }
    }
}

// Compares each step as if it were a call of its own: with the result that exact would have from
// the tensors as the step before leaves them. Padding that is not blank before the first step
// differs in that one.
template <typename Rows>
void Compare(const CoreContext& core, const void* payload) {
    const AdvanceStepMultiPayload& p = Payload(payload);
    const AdvanceStepMultiTiling& t = p.tiling;
    for (int64_t step = 0; step < t.steps; ++step) {
        const AdvanceStepArgs args = ArgsOf<Rows>(p, step);
        ForEachRow(core, t.rows, [&](int64_t row) {
            CompareRow<Rows>(core, t.rows, args, row, PositionAt<Rows>(p, row, step),
                             AdvanceStepMultiRow{step, row}.FaultRow(t));
        });
    }
}

template <typename Rows>
void Commit(const CoreContext& core, const void* payload) {
    const AdvanceStepMultiPayload& p = Payload(payload);
    const AdvanceStepTiling& t = p.tiling.rows;
    for (int64_t step = 0; step < p.tiling.steps; ++step) {
        const AdvanceStepArgs args = ArgsOf<Rows>(p, step);
        Pieces<Rows> pieces(core, t, args);
        pieces.Advance({step, 0});  // the steps before have moved the lengths
        pieces.Blank();
    }
}

template <typename Rows>
void CheckExact(const CoreContext& core, const void* payload) {
    const AdvanceStepMultiPayload& p = Payload(payload);
    const AdvanceStepMultiTiling& t = p.tiling;
    ForEachExactQuery(core, t.rows, [&](int64_t query) {
        for (int64_t step = 0; step < t.steps; ++step) {
            TokenPlace place;
            place.position = PositionAt<Rows>(p, query, step);
            const AdvanceStepFault fault = Rows::Place(t.rows, &place);
            if (fault != AdvanceStepFault::kNone) {
                return ReportPlace(core, AdvanceStepMultiRow{step, query}.FaultRow(t), fault,
                                   place);
            }
        }
    });
}

template <typename Rows>
void CommitExact(const CoreContext& core, const void* payload) {
    const AdvanceStepMultiPayload& p = Payload(payload);
    const AdvanceStepTiling& t = p.tiling.rows;
    for (int64_t step = 0; step < p.tiling.steps; ++step) {
        const AdvanceStepArgs args = ArgsOf<Rows>(p, step);
        ForEachExactQuery(core, t, [&](int64_t query) { Rows::Advance(t, args, query); });
        ForEachExactBlank(core, t, [&](int64_t row) { Rows::Blank(args, row); });
    }
}

template <typename Rows>
void LookAtSlots(const CoreContext& core, const void* payload) {
    const AdvanceStepMultiPayload& p = Payload(payload);
    CheckSlotsOf<Rows>(core, p.tiling.rows, p.args, p.tiling.steps);
}

template <typename Rows>
AdvanceStepKernels Exact() {
    return {&CheckExact<Rows>, nullptr, &CommitExact<Rows>};
}

void Multiply(int64_t* numbers, int64_t steps) {
    numbers[AdvanceStepCounter::kAdvanced] *= steps;
    numbers[AdvanceStepCounter::kPadded] *= steps;
}

}  // namespace

AdvanceStepKernels MultiStandardKernels(bool lengths32, bool slots32, bool tables32) {
    return WithStandardRows(lengths32, slots32, tables32, [](auto rows) {
        using Rows = decltype(rows);
        return AdvanceStepKernels{&Check<Rows>, &Compare<Rows>,   &Commit<Rows>,
                                  nullptr,      kKeptBytesPerRow, &LookAtSlots<Rows>};
    });
}

AdvanceStepKernels MultiExactKernels(bool tables32) {
    return tables32 ? Exact<ExactRows<int32_t>>() : Exact<ExactRows<int64_t>>();
}

void CountMultiStandard(const void* payload, int64_t* numbers) {
    const AdvanceStepMultiTiling& t = Payload(payload).tiling;
    CountStandardRows(t.rows, numbers);
    Multiply(numbers, t.steps);
}

void CountMultiExact(const void* payload, int64_t* numbers) {
    const AdvanceStepMultiTiling& t = Payload(payload).tiling;
    CountExactRows(t.rows, numbers);
    Multiply(numbers, t.steps);
}

}  // namespace advstep
