// SPDX-License-Identifier: Apache-2.0
// A call of AdvanceStep's phase one with one thing changed, and what it has to answer. Addresses
// here are invented: phase one touches no memory.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_PLAN_CASES_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_PLAN_CASES_H_

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>

#include "aclnnop/aclnn_advance_step.h"
#include "support/advance_step_batch.h"
#include "support/status.h"

namespace conformance {

using support::kBlockTables;
using support::kInputPositions;
using support::kInputTokens;
using support::kSampledTokenIds;
using support::kSeqLens;
using support::kSlotMapping;
using support::TensorSpec;

inline constexpr int kNull = ACLNN_ERR_PARAM_NULLPTR;
inline constexpr int kInvalid = ACLNN_ERR_PARAM_INVALID;
inline constexpr int kTiling = ACLNN_ERR_INNER_TILING_ERROR;

// A tensor's name as part of a case's name.
inline std::string Capital(size_t tensor) {
    std::string name = support::kTensorNames[tensor];
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    return name;
}

// The arguments of a valid call: 4 sequences, 2 queries, block size 8, 3 blocks each.
struct Arguments {
    std::array<TensorSpec, 6> tensors{TensorSpec{{4}}, TensorSpec{{2, 1}}, TensorSpec{{4}},
                                      TensorSpec{{4}}, TensorSpec{{4}},    TensorSpec{{4, 3}}};
    std::array<bool, 6> isNull{};
    int64_t numSeqs = 4;
    int64_t numQueries = 2;
    int64_t blockSize = 8;
    bool hasWorkspaceSize = true;
    bool hasExecutor = true;

    TensorSpec& operator[](size_t index) { return tensors[index]; }
    // Shapes and attributes of so many rows.
    void Resize(int64_t seqs, int64_t queries) {
        numSeqs = seqs;
        numQueries = queries;
        for (const size_t i : {kInputTokens, kInputPositions, kSeqLens, kSlotMapping}) {
            tensors[i].shape = {seqs};
        }
        tensors[kSampledTokenIds].shape = {queries, 1};
        tensors[kBlockTables].shape = {seqs, 3};
    }
    // Addresses that do not touch each other, 4096 bytes apart.
    void PlaceApart() {
        for (size_t i = 0; i < 6; ++i) {
            tensors[i].data = Place(i, 0);
        }
    }
    static void* Place(size_t index, int64_t byte) {
        return reinterpret_cast<void*>(0x100000 + 0x1000 * (index + 1) + byte);
    }
};

struct PlanCase {
    std::string name;
    int code;
    std::string part;  // of the message
    std::function<void(Arguments&)> change;
};

inline aclnnStatus Plan(const Arguments& arguments, uint64_t* workspaceSize,
                        aclOpExecutor** executor) {
    std::array<support::Tensor, 6> tensors;
    std::array<const aclTensor*, 6> t{};
    for (size_t i = 0; i < 6; ++i) {
        if (!arguments.isNull[i]) {
            tensors[i] = support::Tensor(arguments.tensors[i]);
            t[i] = tensors[i].Get();
        }
    }
    return aclnnAdvanceStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], arguments.numSeqs,
                                            arguments.numQueries, arguments.blockSize,
                                            arguments.hasWorkspaceSize ? workspaceSize : nullptr,
                                            arguments.hasExecutor ? executor : nullptr);
}

inline void Expect(const PlanCase& row) {
    Arguments arguments;
    row.change(arguments);
    uint64_t workspaceSize = 77;
    int local = 0;
    auto* const untouched = reinterpret_cast<aclOpExecutor*>(&local);
    aclOpExecutor* executor = untouched;
    const aclnnStatus status = Plan(arguments, &workspaceSize, &executor);
    if (row.code == ACLNN_SUCCESS) {
        ASSERT_TRUE(support::IsOk(status));
        ASSERT_NE(executor, untouched);
        EXPECT_TRUE(support::IsOk(aclDestroyAclOpExecutor(executor)));
        return;
    }
    EXPECT_TRUE(support::IsError(row.code, status, {"aclnnAdvanceStep", row.part}));
    EXPECT_EQ(workspaceSize, 77U) << "no output is written on error";
    EXPECT_EQ(executor, untouched);
    if (status == ACLNN_SUCCESS && executor != untouched) {
        aclDestroyAclOpExecutor(executor);
    }
}

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_PLAN_CASES_H_
