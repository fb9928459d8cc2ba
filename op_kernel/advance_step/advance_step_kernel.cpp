// SPDX-License-Identifier: Apache-2.0
// The kernels of AdvanceStep: check, compare and commit, for each conformance and dtype.

#include "op_kernel/advance_step/advance_step_kernel.h"

#include <algorithm>

#include "op_kernel/advance_step/advance_step_pieces.h"
#include "op_kernel/advance_step/advance_step_slots.h"

namespace advstep {

// One per compilation of advance_step_lanes.cpp.
namespace baseline {
extern const AdvanceStepLanesTable kLanes;
}
#if defined(__x86_64__)
namespace avx2 {
extern const AdvanceStepLanesTable kLanes;
}
namespace avx512 {
extern const AdvanceStepLanesTable kLanes;
}
const AdvanceStepLanesTable* const kAdvanceStepLanes[] = {&baseline::kLanes, &avx2::kLanes,
                                                          &avx512::kLanes};
#else
const AdvanceStepLanesTable* const kAdvanceStepLanes[] = {&baseline::kLanes};
#endif

namespace {

const AdvanceStepPayload& Payload(const void* payload) {
    return *static_cast<const AdvanceStepPayload*>(payload);
}

// The code for many rows only finds out that one may be bad. The code for one row says which, and
// why.
template <typename Rows>
void CheckPieces(const CoreContext& core, const AdvanceStepPayload& p, const Pieces<Rows>& pieces) {
    pieces.Check({}, [&](bool good, RowRange rows) {
        for (int64_t row = rows.begin; !good && row < rows.end; ++row) {
            TokenPlace place;
            place.position = Rows::PositionOf(p.args, row);
            ReportPlace(core, row, Rows::Place(p.tiling, p.args, row, &place), place);
        }
    });
}

template <typename Rows>
void Check(const CoreContext& core, const void* payload) {
    const AdvanceStepPayload& p = Payload(payload);
    CheckPieces(core, p, Pieces<Rows>(core, p.tiling, p.args));
}

template <typename Rows>
void Commit(const CoreContext& core, const void* payload) {
    const AdvanceStepPayload& p = Payload(payload);
    const Pieces<Rows> pieces(core, p.tiling, p.args);
    pieces.Advance({});
    pieces.Blank();
}

template <typename Rows>
[[gnu::noinline]] void CheckAndCommitByPieces(const CoreContext& core,
                                              const AdvanceStepPayload& p) {
    const Pieces<Rows> pieces(core, p.tiling, p.args);
    CheckPieces(core, p, pieces);
    if (!core.fault->found()) {
        pieces.Advance({});
        pieces.Blank();
    }
}

template <typename Rows>
void CheckAndCommit(const CoreContext& core, const void* payload) {
    const AdvanceStepPayload& p = Payload(payload);
    const Pieces<Rows> pieces(core, p.tiling, p.args);
    if (pieces.CheckThenAdvance()) {
        pieces.Blank();
    } else {
        CheckAndCommitByPieces<Rows>(core, p);
    }
}

template <typename Rows>
void CheckExact(const CoreContext& core, const void* payload) {
    const AdvanceStepPayload& p = Payload(payload);
    ForEachExactQuery(core, p.tiling, [&](int64_t query) {
        TokenPlace place;
        place.position = Rows::PositionOf(p.args, query);
        ReportPlace(core, query, Rows::Place(p.tiling, &place), place);
    });
}

template <typename Rows>
void CommitExact(const CoreContext& core, const void* payload) {
    const AdvanceStepPayload& p = Payload(payload);
    ForEachExactQuery(core, p.tiling,
                      [&](int64_t query) { Rows::Advance(p.tiling, p.args, query); });
    ForEachExactBlank(core, p.tiling, [&](int64_t row) { Rows::Blank(p.args, row); });
}

template <typename Rows>
void Compare(const CoreContext& core, const void* payload) {
    const AdvanceStepPayload& p = Payload(payload);
    ForEachRow(core, p.tiling, [&](int64_t row) {
        CompareRow<Rows>(core, p.tiling, p.args, row, Rows::PositionOf(p.args, row), row);
    });
}

template <typename Rows>
void LookAtSlots(const CoreContext& core, const void* payload) {
    const AdvanceStepPayload& p = Payload(payload);
    CheckSlotsOf<Rows>(core, p.tiling, p.args, 1);
}

template <typename Rows>
AdvanceStepKernels Standard() {
    return {&Check<Rows>,          &Compare<Rows>,   &Commit<Rows>,
            &CheckAndCommit<Rows>, kKeptBytesPerRow, &LookAtSlots<Rows>};
}

template <typename Rows>
AdvanceStepKernels Exact() {
    return {&CheckExact<Rows>, nullptr, &CommitExact<Rows>};
}

}  // namespace

AdvanceStepKernels StandardKernels(bool lengths32, bool slots32, bool tables32) {
    return WithStandardRows(lengths32, slots32, tables32,
                            [](auto rows) { return Standard<decltype(rows)>(); });
}

AdvanceStepKernels ExactKernels(bool tables32) {
    return tables32 ? Exact<ExactRows<int32_t>>() : Exact<ExactRows<int64_t>>();
}

void CountStandardRows(const AdvanceStepTiling& t, int64_t* numbers) {
    numbers[AdvanceStepCounter::kAdvanced] = t.numQueries;
    numbers[AdvanceStepCounter::kPadded] = t.numSeqs - t.numQueries;
}

void CountExactRows(const AdvanceStepTiling& t, int64_t* numbers) {
    numbers[AdvanceStepCounter::kAdvanced] = std::min<int64_t>(t.numQueries, t.exactCores);
    numbers[AdvanceStepCounter::kPadded] =
        (t.numSeqs - t.numQueries + t.exactCores - 1) / t.exactCores;
}

void CountStandard(const void* payload, int64_t* numbers) {
    CountStandardRows(Payload(payload).tiling, numbers);
}

void CountExact(const void* payload, int64_t* numbers) {
    CountExactRows(Payload(payload).tiling, numbers);
}

}  // namespace advstep
