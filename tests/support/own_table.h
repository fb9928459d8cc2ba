// SPDX-License-Identifier: Apache-2.0
// A plain operator table, written out by hand: out[i] = in[i] + add, or a fault where in[i] < 0.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_OWN_TABLE_H_
#define ADVANCE_STEP_TESTS_SUPPORT_OWN_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "advance_step/operator.h"

namespace support {

struct OwnPayload {
    int64_t add;
    int64_t count;
    const int64_t* in;
    const int64_t* bias;  // may be left out
    int64_t* out;
    unsigned char* workspace;
};

inline void CheckOwn(const advance_step::op::CoreContext& core, const void* payload) {
    const auto& p = *static_cast<const OwnPayload*>(payload);
    for (int64_t i = core.index; i < p.count; i += 4) {
        if (p.in[i] < 0) {
            core.Report(i, 1, {p.in[i]});
        }
    }
}

inline void CommitOwn(const advance_step::op::CoreContext& core, const void* payload) {
    const auto& p = *static_cast<const OwnPayload*>(payload);
    for (int64_t i = core.index; i < p.count; i += 4) {
        p.out[i] = p.in[i] + p.add + (p.bias != nullptr ? p.bias[i] : 0);
    }
}

inline advance_step::op::FaultReport DescribeOwn(const advance_step::op::Fault& fault,
                                                 const void* /*payload*/) {
    return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
            advance_step::op::Text("row ", fault.row, ": in is ", fault.values[0],
                                   "; expected at least 0")};
}

// Four cores, whatever the machine has.
inline const advance_step::op::KernelProgram kOwnProgram = advance_step::op::MakeKernelProgram(
    "aclnnOwn", &advance_step::op::InWords<&DescribeOwn>, {&CheckOwn, &CommitOwn});

inline constexpr AdvStepOperatorTensor kOwnTensors[] = {{"in", offsetof(OwnPayload, in), 0, 0},
                                                        {"bias", offsetof(OwnPayload, bias), 0, 1},
                                                        {"out", offsetof(OwnPayload, out), 1, 0}};

inline constexpr AdvStepOperatorTable kOwnTable = {sizeof(AdvStepOperatorTable),
                                                   ADVSTEP_OPERATOR_INTERFACE,
                                                   "aclnnOwn",
                                                   kOwnTensors,
                                                   3,
                                                   sizeof(OwnPayload),
                                                   0};

inline const AdvStepOperator* OwnOperator() {
    const AdvStepOperator* op = nullptr;
    (void)advstepRegisterOperator(&kOwnTable, &op);
    return op;
}

/// One call of it through the plain functions.
struct OwnCall {
    explicit OwnCall(const aclTensor* in, const aclTensor* bias, const aclTensor* out, int64_t add,
                     int64_t count)
        : tensors{in, bias, out}, attributes{add, count} {
        call.structBytes = sizeof(call);
        call.attributeCount = 2;
        call.op = OwnOperator();
        call.tensors = tensors;
        call.attributes = attributes;
        call.workspaceSize = &workspaceSize;
        call.executor = &executor;
        environment.structBytes = sizeof(environment);
        payload.add = add;
        payload.count = count;
        plan.structBytes = sizeof(plan);
        plan.coreCount = 4;
        plan.program = &kOwnProgram;
        plan.rows = count;
        plan.payload = &payload;
        plan.workspaceAt = -1;
    }
    OwnCall(const OwnCall&) = delete;
    OwnCall& operator=(const OwnCall&) = delete;

    aclnnStatus Begin() { return advstepBeginPlan(&call, views, &environment, &isPlanned); }
    aclnnStatus Finish() { return advstepFinishPlan(&call, views, &plan); }
    aclnnStatus Plan() {
        const aclnnStatus code = Begin();
        return code != 0 || isPlanned != 0 ? code : Finish();
    }
    aclnnStatus Run(aclrtStream stream) {
        return advstepRunOperator(call.op, nullptr, 0, executor, stream);
    }

    const aclTensor* tensors[3];
    int64_t attributes[2];
    AdvStepOperatorCall call{};
    AdvStepTensorView views[3]{};
    AdvStepOperatorEnvironment environment{};
    OwnPayload payload{};
    AdvStepOperatorPlan plan{};
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    int32_t isPlanned = 0;
};

// Makes other plans of these tensors, so that phase one, which looks at the last plans only, finds
// none of an earlier test. Theirs are equal if the memory has the same addresses.
inline aclnnStatus PassEarlierPlans(const aclTensor* in, const aclTensor* out, int64_t count) {
    aclnnStatus code = 0;
    for (int64_t add = 8000; add < 8016 && code == 0; ++add) {
        OwnCall other(in, nullptr, out, add, count);
        code = other.Plan();
        if (code == 0) {
            code = aclDestroyAclOpExecutor(other.executor);
        }
    }
    return code;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_OWN_TABLE_H_
