// SPDX-License-Identifier: Apache-2.0
/// An operator of your own in aclnn's two calls. docs/your_operator.md shows one from start to end.
///
/// An operator is a class with these public static members, best in an unnamed namespace:
///
/// - `using Payload`: plain data that kernels get: the tiling, and the address of each tensor;
/// - `constexpr const char kName[]`: the name of phase two, for instance "aclnnAdd";
/// - `constexpr Signature<N> kTensors`: its tensors;
/// - `constexpr const char* kAttributes[]`: the names of its attributes, if it has any;
/// - `Status Plan(const Request&, ATTRIBUTES..., Planned<Payload>*)`: checks the call, cuts its
///   work over the cores and chooses the kernel program.
///
/// It may have these as well:
///
/// - `using WithFewerTensors`: another such class, for calls that pass null for the last tensors.
///   Its kName and its attributes are those of the operator, and its tensors are the first ones of
///   the operator's. Its payload, checks and programs are its own;
/// - `constexpr bool kChecksDims = true`: Plan checks all dims, and refuses a negative one in its
///   own words. Otherwise phase one refuses it before Plan;
/// - `void Prepare()`: makes the data that Plan reads, for instance a table of programs. It is
///   called once, while the library is loaded, when no thread can fork.
///
/// The library's own operators are such classes too, and have the same calls.
///
/// ADVSTEP_OPERATOR defines the two calls of an operator. Only the plain functions of
/// operator/core.h are here in C and in C++ before C++17.
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

#define ADVSTEP_OP_LIST(...) __VA_ARGS__
#define ADVSTEP_OP_EXPORT extern "C" ADVSTEP_API

/// Defines and exports the two calls of an operator, and registers it while its library is loaded.
/// The macro stands at namespace scope.
///
///     ADVSTEP_OPERATOR(aclnnAdd, Add,
///                      (const aclTensor* self, const aclTensor* other, const aclScalar* alpha,
///                       aclTensor* out),
///                      (self, other, alpha, out))
#define ADVSTEP_OPERATOR(call, Operator, parameters, arguments)                                    \
    static const ::advance_step::op::Registration<Operator> advstepRegistrationOf_##call;          \
    ADVSTEP_OP_EXPORT aclnnStatus call##GetWorkspaceSize(                                          \
        ADVSTEP_OP_LIST parameters, uint64_t* workspaceSize, aclOpExecutor** executor) {           \
        static_assert(::std::string_view(Operator::kName) == #call,                                \
                      "kName: it is the name of phase two, " #call);                               \
        return ::advance_step::op::PhaseOne<Operator>(workspaceSize, executor,                     \
                                                      ADVSTEP_OP_LIST arguments);                  \
    }                                                                                              \
    ADVSTEP_OP_EXPORT aclnnStatus call(void* workspace, uint64_t workspaceSize,                    \
                                       aclOpExecutor* executor, aclrtStream stream) {              \
        return ::advance_step::op::PhaseTwo<Operator>(workspace, workspaceSize, executor, stream); \
    }

#endif

#endif /* ADVSTEP_ADVANCE_STEP_OPERATOR_H_ */
