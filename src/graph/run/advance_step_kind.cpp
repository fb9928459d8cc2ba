// SPDX-License-Identifier: Apache-2.0
// The graph operators AdvanceStep and AdvanceStepV2: signature and aclnn calls.

#include "aclnnop/aclnn_advance_step.h"
#include "aclnnop/aclnn_advance_step_v2.h"
#include "src/base/at_load.h"
#include "src/graph/ir/tensor.h"
#include "src/graph/run/operator_kind.h"

namespace advstep::graph {
namespace {

constexpr size_t kInputTokens = 0;
constexpr size_t kInputPositions = 2;
constexpr size_t kSeqLens = 3;
constexpr size_t kSlotMapping = 4;
constexpr size_t kSpecToken = 6;
constexpr size_t kAcceptedNum = 7;

aclnnStatus PlanOneToken(const OperatorArguments& with, uint64_t* workspaceSize,
                         aclOpExecutor** executor) {
    const auto& t = with.tensors;
    return aclnnAdvanceStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], with.attrs[0],
                                            with.attrs[1], with.attrs[2], workspaceSize, executor);
}

aclnnStatus PlanSpeculative(const OperatorArguments& with, uint64_t* workspaceSize,
                            aclOpExecutor** executor) {
    const auto& t = with.tensors;
    return aclnnAdvanceStepV2GetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7],
                                              with.attrs[0], with.attrs[1], with.attrs[2],
                                              workspaceSize, executor);
}

bool HasElements(const ValueDesc* desc) { return desc != nullptr && desc->bytes > 0; }

Outcome WrongShape(const char* name, const ValueDesc& desc, const std::string& expected) {
    return Fail(kInnerError, "Tiling func of op AdvanceStep failed: {} has shape {}; expected {}",
                name, ShapeText(desc.dims), expected);
}

// One optional input without the other is not used, but its shape must be right.
Outcome ChooseAdvanceStep(const OperatorArguments& arguments, AclnnCalls* calls) {
    const ValueDesc* specToken = arguments.descs[kSpecToken];
    const ValueDesc* acceptedNum = arguments.descs[kAcceptedNum];
    const int64_t numSeqs = arguments.attrs[0];
    if (HasElements(specToken) && HasElements(acceptedNum)) {
        *calls = {PlanSpeculative, aclnnAdvanceStepV2};
        return {};
    }
    *calls = {PlanOneToken, aclnnAdvanceStep};
    if (HasElements(specToken) && (specToken->dims.size() != 2 || specToken->dims[0] != numSeqs)) {
        return WrongShape("spec_token", *specToken,
                          fmt::format("[num_seqs, *] = [{}, *]", numSeqs));
    }
    if (HasElements(acceptedNum) && acceptedNum->dims != std::vector<int64_t>{numSeqs}) {
        return WrongShape("accepted_num", *acceptedNum, fmt::format("[num_seqs] = [{}]", numSeqs));
    }
    return {};
}

}  // namespace

const OperatorKind& AdvanceStepKind() {
    static const OperatorKind kind = {"AdvanceStep",
                                      {{"input_tokens", false},
                                       {"sampled_token_ids", false},
                                       {"input_positions", false},
                                       {"seq_lens", false},
                                       {"slot_mapping", false},
                                       {"block_tables", false},
                                       {"spec_token", true},
                                       {"accepted_num", true}},
                                      {{"input_tokens", kInputTokens, kInputTokens},
                                       {"input_positions", kInputPositions, kInputTokens},
                                       {"seq_lens", kSeqLens, kInputTokens},
                                       {"slot_mapping", kSlotMapping, kInputTokens}},
                                      {"num_seqs", "num_queries", "block_size"},
                                      ChooseAdvanceStep};
    return kind;
}

namespace {

const AtLoad makeAdvanceStepKind(&AdvanceStepKind);

}  // namespace

}  // namespace advstep::graph
