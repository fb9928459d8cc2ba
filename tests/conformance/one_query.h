// SPDX-License-Identifier: Apache-2.0
// One AdvanceStep on tensors that lie one behind the other at a given address.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_ONE_QUERY_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_ONE_QUERY_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_advance_step.h"
#include "support/status.h"

namespace conformance {

// inputTokens, inputPositions, seqLens, slotMapping, blockTables of 2 rows, and sampledTokenIds: a
// query of length 1 whose next token is 77, and a padding row.
inline std::vector<int64_t> OneQuery() { return {5, 0, 0, 0, 1, 1, 0, 0, 3, 4, 77}; }

// The plan of a step of the tensors at base, which hold OneQuery(). It needs no workspace.
inline aclOpExecutor* PlanOneQuery(char* base) {
    const auto tensor = [&](int64_t rows, uint64_t dimensions, int64_t at) {
        const int64_t dims[] = {rows, 1};
        return aclCreateTensor(dims, dimensions, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, dims,
                               dimensions, base + at * 8);
    };
    aclTensor* const tensors[] = {tensor(2, 1, 0), tensor(1, 2, 10), tensor(2, 1, 2),
                                  tensor(2, 1, 4), tensor(2, 1, 6),  tensor(2, 2, 8)};
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_TRUE(support::IsOk(
        aclnnAdvanceStepGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3], tensors[4],
                                         tensors[5], 2, 1, 16, &workspaceSize, &executor)));
    EXPECT_EQ(workspaceSize, 0U);
    for (aclTensor* const each : tensors) {
        EXPECT_TRUE(support::IsOk(aclDestroyTensor(each)));
    }
    return executor;
}

// Takes the tensors at base a step further; what phase two returns.
inline aclnnStatus AdvanceOneQuery(char* base) {
    const aclnnStatus status = aclnnAdvanceStep(nullptr, 0, PlanOneQuery(base), nullptr);
    EXPECT_TRUE(support::IsOk(aclrtSynchronizeStream(nullptr)));
    return status;
}

inline void ExpectAdvanced(const std::vector<int64_t>& values) {
    EXPECT_EQ(values[0], 77);
    EXPECT_EQ(values[4], 2);
    EXPECT_EQ(values[6], 3 * 16 + 1);
}

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_ONE_QUERY_H_
