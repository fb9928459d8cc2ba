// SPDX-License-Identifier: Apache-2.0
// AdvanceStep and its kin against their references on random batches, launched and replayed. A
// failure prints the seed of its batch; the batches are the same in every run.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "conformance/machines.h"
#include "conformance/random_call.h"
#include "conformance/random_operators.h"
#include "support/runtime_test.h"
#include "support/sanitizers.h"

namespace {

using conformance::Machine;
using conformance::RandomFault;
using conformance::RandomFlashInfer;
using conformance::RandomMulti;
using conformance::RandomRules;
using conformance::RandomSize;
using conformance::RandomStep;
using conformance::RandomV2;
using support::OpBatch;
using support::OpLayout;
using support::Random;

// Batches of a run. Fewer under the thread sanitizer, which costs ten times as much: threads meet
// in each of them, and the results of all are held without it.
constexpr int kBatches = support::kThreadSanitizer ? 10 : 80;

struct RandomCall {
    OpBatch batch;
    std::vector<std::vector<int64_t>> expected;
    RandomFault fault;
    size_t misalignment;  // of the workspace
};

template <class Operator>
RandomCall Draw(Random& random, const RandomRules& rules, int64_t mostRows, bool isLargest) {
    const int64_t rowsPerSeq = Operator::RowsPerSeq(random);
    const RandomSize size =
        conformance::DrawSize(random, Operator::PaddingOf(rules), rowsPerSeq, mostRows, isLargest);
    typename Operator::Data data = Operator::Make(random, size, rowsPerSeq);
    auto& rows = Operator::Rows(data);
    const bool isSpoilt = random.OneIn(Operator::kSpoiltOneIn);
    for (int64_t count = isSpoilt ? random.Between(1, 3) : 0; count > 0; --count) {
        const int64_t seq = random.Between(0, size.seqs - 1);
        switch (random.Between(0, 3)) {
            case 0:
                Operator::SpoilMore(random, size, data, seq);
                break;
            case 1:
                rows.blockTables[random.Between(0, size.seqs * size.columns - 1)] =
                    conformance::DrawBadBlock(random, size);
                break;
            default:
                Operator::SetPosition(random, data, seq,
                                      conformance::DrawBadPosition(random, size));
        }
    }
    OpLayout layout = conformance::DrawLayout(random, Operator::TakesInt32Rows(rules), size.columns,
                                              rows.seqLens, rows.blockTables);
    layout.columns = layout.columns && (Operator::kMatricesUnderExact || !rules.IsExact());
    OpBatch batch = Operator::Batch(data, layout);
    RandomFault fault = Operator::Reference(data, rules, layout);
    return {std::move(batch), support::ValuesOf(data), std::move(fault),
            static_cast<size_t>(random.Between(0, 65))};
}

struct RandomRun {
    std::string name;
    std::string call;
    RandomCall (*draw)(Random&, const RandomRules&, int64_t, bool);
    RandomRules rules;
    Machine machine;
    int64_t mostRows;  // of a large run the first batch has so many
    int batches;
    int firstSeed;
    bool isLarge;
};

template <class Operator>
std::vector<RandomRun> Runs() {
    std::vector<RandomRun> runs;
    int seed = 0;
    const auto add = [&](const RandomRules& rules, const Machine& machine, bool isLarge) {
        const std::string cores = rules.exactCores > 0 ? std::to_string(rules.exactCores) : "";
        runs.push_back({(isLarge ? "Large" : "") + rules.conformance + cores + machine.name,
                        Operator::kCall, &Draw<Operator>, rules, machine,
                        isLarge ? 60000 : Operator::kMostRows, isLarge ? 12 : kBatches,
                        seed += 1000, isLarge});
    };
    const std::vector<Machine> machines = conformance::Machines();
    const RandomRules exact{"exact", Operator::kExactDependsOnCores ? 40 : 0};
    for (const RandomRules& rules : {RandomRules{"standard"}, RandomRules{"vllm"}, exact}) {
        for (const Machine* machine : {&machines[0], &machines[7]}) {
            add(rules, *machine, true);
        }
    }
    if (Operator::kExactDependsOnCores) {
        for (const int cores : {40, 48}) {
            for (const Machine& machine : conformance::ExactMachines(cores)) {
                add({"exact", cores}, machine, false);
            }
        }
    }
    for (const Machine& machine : machines) {  // the last ones depend on the processor
        add({"standard"}, machine, false);
        add({"vllm"}, machine, false);
        if (!Operator::kExactDependsOnCores) {
            add({"exact"}, machine, false);
        }
    }
    return runs;
}

class RandomCallTest : public support::DeviceTest, public testing::WithParamInterface<RandomRun> {
 protected:
    // The call returned what it has to, and the tensors hold what they have to.
    static testing::AssertionResult IsRight(const RandomCall& call, int status) {
        const testing::AssertionResult returned =
            call.fault ? support::IsError(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, status,
                                          {GetParam().call + ": " + *call.fault + ": "})
                       : support::IsOk(status);
        return returned ? call.batch.Holds(call.expected) : returned;
    }
};

TEST_P(RandomCallTest, AgreesWithTheReference) {
    const RandomRun& run = GetParam();
    ASSERT_NO_FATAL_FAILURE(Restart(run.machine.With(run.rules.conformance)));
    const support::Stream stream = support::MakeStream();
    int faults = 0;
    for (int i = 0; i < run.batches; ++i) {
        SCOPED_TRACE(testing::Message() << "seed " << run.firstSeed + i);
        Random random(static_cast<uint64_t>(run.firstSeed + i));
        RandomCall call = run.draw(random, run.rules, run.mostRows, run.isLarge && i == 0);
        faults += call.fault ? 1 : 0;
        ASSERT_TRUE(IsRight(call, call.batch.Run(stream.Get(), call.misalignment)));
        call.batch.Upload();
        ASSERT_TRUE(IsRight(call, call.batch.RunReplayed(stream.Get(), call.misalignment)));
    }
    if (!run.isLarge && !support::kThreadSanitizer) {
        EXPECT_GT(faults, 0) << "the batches hold both";
        EXPECT_LT(faults, run.batches / 2);
    }
}

std::string NameOfRun(const testing::TestParamInfo<RandomRun>& row) { return row.param.name; }

INSTANTIATE_TEST_SUITE_P(AdvanceStep, RandomCallTest, testing::ValuesIn(Runs<RandomStep>()),
                         NameOfRun);
INSTANTIATE_TEST_SUITE_P(V2, RandomCallTest, testing::ValuesIn(Runs<RandomV2>()), NameOfRun);
INSTANTIATE_TEST_SUITE_P(FlashInfer, RandomCallTest, testing::ValuesIn(Runs<RandomFlashInfer>()),
                         NameOfRun);
INSTANTIATE_TEST_SUITE_P(Multi, RandomCallTest, testing::ValuesIn(Runs<RandomMulti>()), NameOfRun);

}  // namespace
