// SPDX-License-Identifier: Apache-2.0
// AdvanceStep in graph mode: the tie of its type to the calls of AdvanceStep and AdvanceStepV2.

#include <string>

#include "aclnnop/aclnn_advance_step.h"
#include "aclnnop/aclnn_advance_step_v2.h"
#include "advance_step/graph_operator.h"
#include "op_host/advance_step/advance_step_v2.h"

namespace advstep {
namespace {

op::Status WrongShape(const char* input, const op::TensorView& view, const std::string& expected) {
    return op::Error(op::kTilingError, input, " has shape ", op::ShapeText(view.dims, view.rank),
                     "; expected ", expected);
}

struct AdvanceStepInGraphs {
    using Payload = AdvanceStepPayload;
    static constexpr const auto& kTensors = kAdvanceStepSignature;
    static constexpr const auto& kAttributes = kAdvanceStepAttributes;
};

struct V2WithoutSpecInGraphs {
    using Payload = AdvanceStepPayload;
    static constexpr char kName[] = "aclnnAdvanceStepV2";
    static constexpr const auto& kTensors = kAdvanceStepSignature;
};

struct AdvanceStepV2InGraphs {
    using Payload = AdvanceStepV2Payload;
    using WithFewerTensors = V2WithoutSpecInGraphs;
    static constexpr const auto& kName = V2WithoutSpecInGraphs::kName;
    static constexpr const auto& kTensors = kAdvanceStepV2Signature;
    static constexpr const auto& kAttributes = kAdvanceStepAttributes;
    static constexpr bool kIsTolerant = true;

    // Every output has the shape of inputTokens.
    static op::Status Infer(const op::TensorView* views, int64_t /*numSeqs*/,
                            int64_t /*numQueries*/, int64_t /*blockSize*/,
                            op::InferredTensor* tensors) {
        for (size_t place = 0; place < kTensors.size(); ++place) {
            if (kTensors[place].access == op::Access::kWritten && views[place].isPresent()) {
                tensors[place].SetLike(views[0]);
            }
        }
        return {};
    }

    // AdvanceStepV2 runs a node that has both optional inputs. One without the other is not used,
    // but its shape must be right.
    static op::Status Choose(const op::TensorView* views, int64_t numSeqs, int64_t /*numQueries*/,
                             int64_t /*blockSize*/, op::ChosenCalls* calls) {
        const op::TensorView& specToken = views[op::PlaceOf(kTensors, "specToken")];
        const op::TensorView& acceptedNum = views[op::PlaceOf(kTensors, "acceptedNum")];
        const bool hasSpec = specToken.isPresent() && specToken.packedBytes > 0;
        const bool hasAccepted = acceptedNum.isPresent() && acceptedNum.packedBytes > 0;
        if (hasSpec && hasAccepted) {
            return {};
        }
        calls->Take<AdvanceStepInGraphs, &aclnnAdvanceStepGetWorkspaceSize, &aclnnAdvanceStep>();
        const std::string rows = std::to_string(numSeqs);
        if (hasSpec && (specToken.rank != 2 || specToken.dims[0] != numSeqs)) {
            return WrongShape("spec_token", specToken, "[num_seqs, *] = [" + rows + ", *]");
        }
        if (hasAccepted && (acceptedNum.rank != 1 || acceptedNum.dims[0] != numSeqs)) {
            return WrongShape("accepted_num", acceptedNum, "[num_seqs] = [" + rows + "]");
        }
        return {};
    }
};

}  // namespace

ADVSTEP_GRAPH_OPERATOR(AdvanceStep, aclnnAdvanceStepV2, AdvanceStepV2InGraphs)

}  // namespace advstep
