// SPDX-License-Identifier: Apache-2.0
// An operator of the test itself, as a type of graph operators with attributes of every kind.
#ifndef ADVANCE_STEP_TESTS_GRAPH_TIED_OPERATOR_H_
#define ADVANCE_STEP_TESTS_GRAPH_TIED_OPERATOR_H_

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "advance_step/graph_operator.h"
#include "graph/graph_fixture.h"

namespace graphs {

struct MixPayload {
    int64_t count;
    int64_t number;
    const int64_t* read;
    const int64_t* bias;  // may be left out
    int64_t* state;
    int64_t* sum;
};

// Run in the next call of the functions Infer and Plan, if a test sets them.
inline std::function<void()> inInfer, inPlan;

// sum = read + bias + number, and state = state + read.
inline void RunMix(const advance_step::op::CoreContext& core, const void* payload) {
    const auto& p = *static_cast<const MixPayload*>(payload);
    for (int64_t i = core.index; i < p.count; ++i) {
        p.sum[i] = p.read[i] + (p.bias != nullptr ? p.bias[i] : 0) + p.number;
        p.state[i] += p.read[i];
    }
}

struct Mix {
    using Payload = MixPayload;
    using Ints = advance_step::op::ArrayValue<int64_t>;
    using Floats = advance_step::op::ArrayValue<float>;
    using Bools = advance_step::op::ArrayValue<bool>;
    struct Dim {
        enum : uint8_t { kNone, kCount, kDims };
    };
    static constexpr const char kName[] = "aclnnTestMix";
    static constexpr advance_step::op::DataTypes kWhole = advance_step::op::Only(ACL_INT64);
    static constexpr advance_step::op::Shapes kRows = {{"[count]", Dim::kCount}};
    static constexpr advance_step::op::Signature<4> kTensors = {{
        {"readIn", advance_step::op::Access::kRead, kWhole, kRows, offsetof(MixPayload, read)},
        {"bias", advance_step::op::Access::kRead, kWhole, kRows, offsetof(MixPayload, bias),
         advance_step::op::Layout::kContiguous, advance_step::op::Presence::kOptional},
        {"state", advance_step::op::Access::kWritten, kWhole, kRows, offsetof(MixPayload, state)},
        {"sum", advance_step::op::Access::kWritten, kWhole, kRows, offsetof(MixPayload, sum)},
    }};
    static constexpr const char* kAttributes[] = {"narrow", "flag",  "real", "scale",
                                                  "ints",   "reals", "bools"};

    // Every attribute has decimal places of its own.
    static int64_t NumberOf(int32_t narrow, bool flag, double real,
                            const advance_step::op::ScalarValue& scale, const Ints& ints,
                            const Floats& reals, const Bools& bools) {
        int64_t number = narrow + (flag ? 10 : 0) + static_cast<int64_t>(real) * 100 +
                         scale.To<int64_t>() * 1000;
        for (const int64_t value : ints) {
            number += value * 10000;
        }
        for (const float value : reals) {
            number += static_cast<int64_t>(value) * 100000;
        }
        for (const bool value : bools) {
            number += value ? 1000000 : 0;
        }
        return number + static_cast<int64_t>(ints.size() + reals.size() + bools.size()) * 10000000;
    }

    static advance_step::op::Status Plan(const advance_step::op::Request& request, int32_t narrow,
                                         bool flag, double real,
                                         const advance_step::op::ScalarValue& scale,
                                         const Ints& ints, const Floats& reals, const Bools& bools,
                                         advance_step::op::Planned<Payload>* plan) {
        if (const auto once = std::exchange(inPlan, nullptr)) {
            once();
        }
        ADVSTEP_OP_RETURN_IF_ERROR(advance_step::op::CheckLayouts<kTensors>(request.views));
        advance_step::op::CallDims<Dim::kDims> dims{};
        dims[Dim::kCount] =
            request.views[0].rank == 1 ? request.views[0].dims[0] : advance_step::op::kAtLeastZero;
        ADVSTEP_OP_RETURN_IF_ERROR(advance_step::op::CheckShapes<kTensors>(request.views, dims));
        static const advance_step::op::KernelProgram kProgram =
            advance_step::op::MakeKernelProgram(kName, nullptr, {&RunMix});
        plan->payload.count = dims[Dim::kCount];
        plan->payload.number = NumberOf(narrow, flag, real, scale, ints, reals, bools);
        plan->program = &kProgram;
        plan->coreCount = 1;
        plan->rows = plan->payload.count;
        return {};
    }
    static advance_step::op::Status Infer(const advance_step::op::TensorView* views, int32_t narrow,
                                          bool /*flag*/, double /*real*/,
                                          const advance_step::op::ScalarValue& /*scale*/,
                                          const Ints& /*ints*/, const Floats& /*reals*/,
                                          const Bools& /*bools*/,
                                          advance_step::op::InferredTensor* tensors) {
        if (const auto once = std::exchange(inInfer, nullptr)) {
            once();
        }
        if (narrow == -1) {
            return {};  // forgets the shape
        }
        if (narrow == -2) {
            return advance_step::op::Error(ACLNN_ERR_INNER_TILING_ERROR, "narrow is -2");
        }
        if (narrow == -4) {
            throw 4;
        }
        if (narrow == -5) {
            pthread_exit(nullptr);
        }
        const int64_t negative = -4;
        if (narrow == -3) {
            tensors[3].Set(ACL_INT64, &negative, 1);
        } else {
            tensors[3].SetLike(views[0]);
        }
        return {};
    }
};

}  // namespace graphs

// tied_operator_test.cpp defines the calls of Mix.
ADVSTEP_OP_EXPORT aclnnStatus aclnnTestMixGetWorkspaceSize(
    const aclTensor* readIn, const aclTensor* bias, aclTensor* state, int32_t narrow, bool flag,
    double real, const aclScalar* scale, const aclIntArray* ints, const aclFloatArray* reals,
    const aclBoolArray* bools, aclTensor* sum, uint64_t* workspaceSize, aclOpExecutor** executor);
ADVSTEP_OP_EXPORT aclnnStatus aclnnTestMix(void* workspace, uint64_t workspaceSize,
                                           aclOpExecutor* executor, aclrtStream stream);

// The parts of the IR of a type with the operator Mix.
#define TEST_READ .INPUT(read_in, TensorType({DT_INT64}))
#define TEST_STATE .INPUT(state, TensorType({DT_INT64})).OUTPUT(state, TensorType({DT_INT64}))
#define TEST_SUM .OUTPUT(sum, TensorType({DT_INT64}))
#define TEST_ATTRS(flag_value, real_value, scale_value) \
    .ATTR(flag, Bool, flag_value)                       \
        .ATTR(real, Float, real_value)                  \
        .ATTR(scale, Int, scale_value)                  \
        .ATTR(ints, ListInt, {})                        \
        .ATTR(reals, ListFloat, {})                     \
        .ATTR(bools, ListBool, {})

// A type whose operator is Mix with a phase two of the test.
#define TEST_TIED_MIX(Type, Run, narrow_value)                                                     \
    namespace {                                                                                    \
    constexpr AdvStepGraphOperator k##Type =                                                       \
        advance_step::op::MakeGraphTie<graphs::Mix, &aclnnTestMixGetWorkspaceSize, &(Run)>(#Type); \
    const advance_step::op::GraphRegistration k##Type##Tied(&k##Type);                             \
    }                                                                                              \
    namespace ge {                                                                                 \
    REG_OP(Type)                                                                                   \
    TEST_READ TEST_STATE TEST_SUM.ATTR(narrow, Int, narrow_value) TEST_ATTRS(false, 0.0F, 0)       \
        .OP_END_FACTORY_REG(Type)                                                                  \
    }

namespace ge {

REG_OP(TestMix)
TEST_READ.OPTIONAL_INPUT(bias, TensorType({DT_INT64}))
    .INPUT(state, TensorType({DT_INT64}))
    .OUTPUT(state_out, TensorType({DT_INT64})) TEST_SUM.REQUIRED_ATTR(narrow, Int)
    .ATTR(flag, Bool, true)
    .ATTR(real, Float, 2.0F)
    .ATTR(scale, Float, 3.0F)
    .ATTR(ints, ListInt, {4, 5})
    .ATTR(reals, ListFloat, {6.0F})
    .ATTR(bools, ListBool, {true, false, true})
    .OP_END_FACTORY_REG(TestMix)

}  // namespace ge

#endif  // ADVANCE_STEP_TESTS_GRAPH_TIED_OPERATOR_H_
