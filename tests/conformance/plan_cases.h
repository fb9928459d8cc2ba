// SPDX-License-Identifier: Apache-2.0
// A call of AdvanceStep's phase one with one thing changed, and what it has to answer. Addresses
// here are invented: phase one touches no memory.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_PLAN_CASES_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_PLAN_CASES_H_

#include <string>

#include "aclnnop/aclnn_advance_step.h"
#include "support/advance_step_batch.h"
#include "support/op_plan_cases.h"

namespace conformance {

using support::kBlockTables;
using support::kInputPositions;
using support::kInputTokens;
using support::kSampledTokenIds;
using support::kSeqLens;
using support::kSlotMapping;

using support::kInvalid;
using support::kNull;
using support::kTiling;

// A tensor's name as part of a case's name.
inline std::string Capital(size_t tensor) {
    return support::CapitalOf(support::kTensorNames[tensor]);
}

using Arguments = support::OpArguments;
using PlanCase = support::OpPlanCase;

// Shapes and attributes of so many rows.
inline void Resize(Arguments& arguments, int64_t seqs, int64_t queries) {
    arguments.numSeqs = seqs;
    arguments.numQueries = queries;
    for (const size_t i : {kInputTokens, kInputPositions, kSeqLens, kSlotMapping}) {
        arguments[i].shape = {seqs};
    }
    arguments[kSampledTokenIds].shape = {queries, 1};
    arguments[kBlockTables].shape = {seqs, 3};
}

// The case as a change of a valid call: 4 sequences, 2 queries, block size 8, 3 blocks each.
inline void Expect(const PlanCase& row) {
    Arguments arguments;
    arguments.tensors.resize(6);
    arguments.blockSize = 8;
    Resize(arguments, 4, 2);
    support::ExpectPlan(row, arguments, "aclnnAdvanceStep",
                        [](const support::OpBatch::Tensors& t, const Arguments& a,
                           uint64_t* workspaceSize, aclOpExecutor** executor) {
                            return aclnnAdvanceStepGetWorkspaceSize(
                                t[0], t[1], t[2], t[3], t[4], t[5], a.numSeqs, a.numQueries,
                                a.blockSize, workspaceSize, executor);
                        });
}

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_PLAN_CASES_H_
