// SPDX-License-Identifier: Apache-2.0
/// An operator of your own in graph mode: a type of graph operators (REG_OP) tied to an aclnn pair.
///
///     ADVSTEP_GRAPH_OPERATOR(Add, aclnnAdd, Add)
///
/// Names of the IR and of the operator's table are equal apart from case and underscores:
/// block_tables is blockTables. A tensor that the calls read is an INPUT, or an OPTIONAL_INPUT if
/// it may be left out. A tensor that they write is an OUTPUT. If the IR has an INPUT of its name
/// too, the output, which may be called NAME_out, is an update of it. An Int, Float or Bool is an
/// integer, a floating-point number or a bool of the call, and any of them an aclScalar; ListInt,
/// ListFloat and ListBool are its arrays.
///
/// An operator with outputs that are no updates has one more member, which sets their shapes:
///
///     static Status Infer(const TensorView* views, ATTRIBUTES..., InferredTensor* tensors)
///
/// In C and in C++ before C++17 this header has the plain functions of operator/graph_core.h only.
#ifndef ADVSTEP_ADVANCE_STEP_GRAPH_OPERATOR_H_
#define ADVSTEP_ADVANCE_STEP_GRAPH_OPERATOR_H_

#include "advance_step/operator/graph_core.h"

#if defined(__cplusplus) && __cplusplus >= 201703L

#include "advance_step/operator.h"
#include "advance_step/operator/graph_tie.hpp"

/// Ties the type of graph operators `Type` to the calls of an operator. It stands at namespace
/// scope, after the declarations of the calls.
#define ADVSTEP_GRAPH_OPERATOR(Type, call, Operator)                                       \
    static constexpr AdvStepGraphOperator advstepGraphOperatorOf_##Type =                  \
        ::advance_step::op::MakeGraphTie<Operator, &call##GetWorkspaceSize, &call>(#Type); \
    static const ::advance_step::op::GraphRegistration advstepGraphRegistrationOf_##Type(  \
        &advstepGraphOperatorOf_##Type);

#endif

#endif /* ADVSTEP_ADVANCE_STEP_GRAPH_OPERATOR_H_ */
