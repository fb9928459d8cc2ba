// SPDX-License-Identifier: Apache-2.0
// Step in graph mode: the tie of its type to its calls.

#include "aclnnop/aclnn_step.h"
#include "advance_step/graph_operator.h"
#include "op_host/step/step.h"

namespace advstep {
namespace {

struct StepInGraphs {
    using Payload = StepPayload;
    static constexpr char kName[] = "aclnnStep";
    static constexpr const auto& kTensors = kStepSignature;
    static constexpr const char* kAttributes[] = {"blockSize", "encoderDecoderBlockNum"};
    static constexpr bool kIsTolerant = true;
};

}  // namespace

ADVSTEP_GRAPH_OPERATOR(Step, aclnnStep, StepInGraphs)

}  // namespace advstep
