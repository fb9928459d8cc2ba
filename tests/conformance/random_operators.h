// SPDX-License-Identifier: Apache-2.0
// AdvanceStep and its kin as random tests see them: how each makes its data, what may be wrong with
// them beside positions and block ids, its call, and its reference.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_RANDOM_OPERATORS_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_RANDOM_OPERATORS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "conformance/random_call.h"
#include "support/advance_step_batch.h"
#include "support/advance_step_flashinfer_batch.h"
#include "support/advance_step_multi_batch.h"
#include "support/advance_step_v2_batch.h"

namespace conformance {

using reference::AdvanceStepData;
using reference::AdvanceStepV2Data;
using reference::FlashInferData;
using reference::MultiData;
using reference::WrappingAdd;
using reference::WrappingMultiply;
using support::OpBatch;
using support::OpLayout;
using support::Random;

using RandomFault = std::optional<std::string>;  // where, as the message says

struct RandomStep {
    using Data = AdvanceStepData;
    static constexpr const char* kCall = "aclnnAdvanceStep";
    static constexpr int64_t kMostRows = 3000;
    static constexpr int64_t kSpoiltOneIn = 3;
    static constexpr bool kExactDependsOnCores = true;
    static constexpr bool kMatricesUnderExact = true;

    static Padding PaddingOf(const RandomRules& rules) {
        return rules.IsVllm() ? Padding::kPermitted : Padding::kRequired;
    }
    static bool TakesInt32Rows(const RandomRules& rules) { return rules.IsVllm(); }
    static int64_t RowsPerSeq(Random&) { return 1; }
    static Data Make(Random&, const RandomSize& size, int64_t) {
        return support::MakeBatch(size.seqs, size.queries, size.blockSize, size.columns, size.seed);
    }
    static AdvanceStepData& Rows(Data& data) { return data; }
    static void SetPosition(Random&, Data& data, int64_t seq, int64_t position) {
        data.seqLens[seq] = position;
    }
    static void SpoilMore(Random& random, const RandomSize& size, Data& data, int64_t seq) {
        data.seqLens[seq] = -random.Between(1, 2 * size.blockSize);
    }
    static OpBatch Batch(const Data& data, const OpLayout& layout) {
        return support::AdvanceStepBatch(data, layout);
    }
    static RandomFault Reference(Data& data, const RandomRules& rules, const OpLayout& layout) {
        const auto error = rules.IsExact() ? reference::AdvanceStepExact(data, rules.exactCores)
                                           : reference::AdvanceStepStandard(data, layout.Limits());
        return error ? RandomFault("query " + std::to_string(error->query)) : std::nullopt;
    }
};

struct RandomV2 {
    using Data = AdvanceStepV2Data;
    static constexpr const char* kCall = "aclnnAdvanceStepV2";
    static constexpr int64_t kMostRows = 2000;
    static constexpr int64_t kSpoiltOneIn = 3;
    static constexpr bool kExactDependsOnCores = false;
    static constexpr bool kMatricesUnderExact = false;

    static Padding PaddingOf(const RandomRules&) { return Padding::kNone; }
    static bool TakesInt32Rows(const RandomRules&) { return false; }
    static int64_t RowsPerSeq(Random& random) {
        return 1 + (random.OneIn(8) ? 128 : random.Size(20));
    }
    static Data Make(Random&, const RandomSize& size, int64_t rowsPerSeq) {
        return support::MakeV2Data(size.seqs, rowsPerSeq - 1, size.blockSize, size.columns,
                                   size.seed);
    }
    static Data& Rows(Data& data) { return data; }
    // Of one of the rows.
    static void SetPosition(Random& random, Data& data, int64_t seq, int64_t position) {
        const int64_t w = data.RowsPerQuery();
        data.inputPositions[seq * w + random.Between(0, w - 1)] =
            WrappingAdd(position, WrappingMultiply(WrappingAdd(data.acceptedNum[seq], 1), -1));
    }
    static void SpoilMore(Random& random, const RandomSize& size, Data& data, int64_t seq) {
        constexpr int64_t kTwo32 = int64_t{1} << 32;
        const int64_t first = seq * data.RowsPerQuery();
        int64_t& block = data.blockTables[random.Between(0, size.seqs * size.columns - 1)];
        switch (random.Between(0, 3)) {
            case 0:
                data.sampledTokenIds[first] = -random.Between(1, 2);
                break;
            case 1:  // wraps to where it was
                data.inputPositions[first] =
                    WrappingAdd(data.inputPositions[first], kTwo32 * random.Between(-1, 1));
                break;
            case 2:
                block = WrappingAdd(block, kTwo32 * random.Between(0, 2));
                break;
            default:
                data.acceptedNum[seq] = random.OneIn(2) ? INT64_MAX : INT64_MIN;
        }
    }
    static OpBatch Batch(const Data& data, const OpLayout& layout) {
        return support::MakeV2Batch(data, layout);
    }
    static RandomFault Reference(Data& data, const RandomRules& rules, const OpLayout&) {
        const auto error = reference::AdvanceStepV2(data, rules.IsExact());
        return error ? RandomFault("query " + std::to_string(error->query) + " (row " +
                                   std::to_string(error->row) + ")")
                     : std::nullopt;
    }
};

// Whatever the device's conformance: the operator's own is vllm.
struct RandomFlashInfer {
    using Data = FlashInferData;
    static constexpr const char* kCall = "aclnnAdvanceStepFlashInfer";
    static constexpr int64_t kMostRows = 2000;
    static constexpr int64_t kSpoiltOneIn = 4;
    static constexpr bool kExactDependsOnCores = false;
    static constexpr bool kMatricesUnderExact = true;

    static Padding PaddingOf(const RandomRules&) { return Padding::kPermitted; }
    static bool TakesInt32Rows(const RandomRules&) { return true; }
    static int64_t RowsPerSeq(Random&) { return 1; }
    // Now and then without room for every block id.
    static Data Make(Random& random, const RandomSize& size, int64_t rowsPerSeq) {
        return support::MakeFlashInferData(
            RandomStep::Make(random, size, rowsPerSeq),
            random.OneIn(6) ? -random.Between(1, 9) : random.Between(0, 3));
    }
    static AdvanceStepData& Rows(Data& data) { return data.rows; }
    static void SetPosition(Random&, Data& data, int64_t seq, int64_t position) {
        data.rows.seqLens[seq] = position;
    }
    // More block ids than there is room for.
    static void SpoilMore(Random&, const RandomSize& size, Data& data, int64_t seq) {
        data.rows.seqLens[seq] = size.blockSize * size.columns - 1;
    }
    static OpBatch Batch(const Data& data, const OpLayout& layout) {
        return support::MakeFlashInferBatch(data, layout);
    }
    static RandomFault Reference(Data& data, const RandomRules&, const OpLayout& layout) {
        const auto query = reference::AdvanceStepFlashInfer(data, layout.Limits());
        return query ? RandomFault("query " + std::to_string(*query)) : std::nullopt;
    }
};

struct RandomMulti {
    using Data = MultiData;
    static constexpr const char* kCall = "aclnnAdvanceStepMulti";
    static constexpr int64_t kMostRows = 4000;
    static constexpr int64_t kSpoiltOneIn = 5;
    static constexpr bool kExactDependsOnCores = true;
    static constexpr bool kMatricesUnderExact = true;

    static Padding PaddingOf(const RandomRules& rules) { return RandomStep::PaddingOf(rules); }
    static bool TakesInt32Rows(const RandomRules& rules) { return rules.IsVllm(); }
    static int64_t RowsPerSeq(Random& random) { return random.Size(20); }  // one in each step
    // Now and then without room, so that the later steps run past the table.
    static Data Make(Random& random, const RandomSize& size, int64_t steps) {
        const AdvanceStepData one = RandomStep::Make(random, size, 1);
        return support::MakeMultiData(random.OneIn(8) ? one : support::WithRoom(one, steps), steps,
                                      size.seed + 1);
    }
    static AdvanceStepData& Rows(Data& data) { return data.one; }
    static void SetPosition(Random&, Data& data, int64_t seq, int64_t position) {
        data.one.seqLens[seq] = position;
    }
    // An edge that one of the steps reaches.
    static void SpoilMore(Random& random, const RandomSize& size, Data& data, int64_t seq) {
        const int64_t tables = random.OneIn(2) ? 1 : size.seqs;
        data.one.seqLens[seq] =
            tables * size.blockSize * size.columns - random.Between(-1, data.steps + 1);
    }
    static OpBatch Batch(const Data& data, const OpLayout& layout) {
        return support::MakeMultiBatch(data, layout);
    }
    static RandomFault Reference(Data& data, const RandomRules& rules, const OpLayout& layout) {
        const auto error = reference::AdvanceStepMulti(data, rules.exactCores, layout.Limits());
        return error ? RandomFault("step " + std::to_string(error->step) + ", query " +
                                   std::to_string(error->query))
                     : std::nullopt;
    }
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_RANDOM_OPERATORS_H_
