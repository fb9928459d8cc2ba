// SPDX-License-Identifier: Apache-2.0
/// An operator of your own in aclnn's two calls. docs/your_operator.md shows one from start to end.
///
/// An operator is a class with these public static members, best in an unnamed namespace:
///
/// - `using Payload`: plain data with the tiling and the address of each tensor;
/// - `constexpr const char kName[]`: the name of phase two, for instance "aclnnAdd";
/// - `constexpr Signature<N> kTensors`: its tensors;
/// - `constexpr const char* kAttributes[]`: the names of its attributes, if it has any;
/// - `Status Plan(const Request&, ATTRIBUTES..., Planned<Payload>*)`: checks the call, cuts its
///   work over the cores and chooses the kernel program.
///
/// It may have these as well:
///
/// - `using Shorter`: the operator of the calls that pass null for all tensors which Shorter does
///   not have. Its kName and its attributes are those of the operator, its tensors the first of the
///   operator's. Its payload, checks and programs are its own;
/// - `void Prepare()`: makes what Plan looks things up in, for instance a table of programs. It is
///   called once, while the library is loaded, when no thread can fork.
///
/// The library's own operators are such classes too.
///
/// ADVSTEP_OPERATOR makes both calls of it. In C and in C++ before C++17 this header has the plain
/// functions of operator/core.h only.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_H_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_H_

#include "advance_step/operator/core.h"

#if defined(__cplusplus) && __cplusplus >= 201703L

#include "advance_step/operator/attribute.hpp"
#include "advance_step/operator/environment.hpp"
#include "advance_step/operator/kernel.hpp"
#include "advance_step/operator/phase_one.hpp"
#include "advance_step/operator/plan.hpp"
#include "advance_step/operator/signature.hpp"
#include "advance_step/operator/status.hpp"
#include "advance_step/operator/tensor_check.hpp"
#include "advance_step/operator/tensor_view.hpp"
#include "advance_step/operator/workspace.hpp"

// The namespace that joins operators to libadvance_step: its functions between two libraries, or,
// where it compiles its own operators, the same without functions between.
#ifndef ADVSTEP_OPERATOR_JOIN
#define ADVSTEP_OPERATOR_JOIN ::advance_step::op
#endif

#define ADVSTEP_OP_LIST(...) __VA_ARGS__
#define ADVSTEP_OP_EXPORT extern "C" ADVSTEP_API

/// Defines and exports the two calls of an operator, and registers it while its library is loaded.
/// It stands at namespace scope.
///
///     ADVSTEP_OPERATOR(aclnnAdd, Add,
///                      (const aclTensor* self, const aclTensor* other, const aclScalar* alpha,
///                       aclTensor* out),
///                      (self, other, alpha, out))
#define ADVSTEP_OPERATOR(call, Operator, parameters, arguments)                              \
    static const ADVSTEP_OPERATOR_JOIN::Registration<Operator> advstepRegistrationOf_##call; \
    ADVSTEP_OP_EXPORT aclnnStatus call##GetWorkspaceSize(                                    \
        ADVSTEP_OP_LIST parameters, uint64_t* workspaceSize, aclOpExecutor** executor) {     \
        static_assert(::std::string_view(Operator::kName) == #call,                          \
                      "kName: it is the name of phase two, " #call);                         \
        return ADVSTEP_OPERATOR_JOIN::PhaseOne<Operator>(workspaceSize, executor,            \
                                                         ADVSTEP_OP_LIST arguments);         \
    }                                                                                        \
    ADVSTEP_OP_EXPORT aclnnStatus call(void* workspace, uint64_t workspaceSize,              \
                                       aclOpExecutor* executor, aclrtStream stream) {        \
        return ADVSTEP_OPERATOR_JOIN::PhaseTwo<Operator>(workspace, workspaceSize, executor, \
                                                         stream);                            \
    }

#endif

#endif /* ADVSTEP_ADVANCE_STEP_OPERATOR_H_ */
