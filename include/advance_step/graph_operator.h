// SPDX-License-Identifier: Apache-2.0
/// An operator of your own in graph mode. The macro ties a type of graph operators, which REG_OP
/// defines, to the two aclnn calls of an operator:
///
///     ADVSTEP_GRAPH_OPERATOR(Add, aclnnAdd, Add)
///
/// The names in REG_OP and in the operator's table are equal apart from case and underscores:
/// block_tables is blockTables. A tensor that the calls read is an INPUT, or an OPTIONAL_INPUT if
/// it may be left out: it is Presence::kOptional, or a class WithFewerTensors of the operator lacks
/// it. A tensor that they write is an OUTPUT. If there is also an INPUT of its name, the output
/// updates that input, and may be called NAME_out. Attributes of kind Int, Float and Bool are
/// integers, floating-point numbers and bools of the call; each of the three may be an aclScalar of
/// the call too. ListInt, ListFloat and ListBool are arrays of the call.
///
/// An operator with an output that updates no input has one more member, which sets its shape:
///
///     static Status Infer(const TensorView* views, ATTRIBUTES..., InferredTensor* tensors)
///
/// Infer is called for every call, whatever it leaves out; the view of a tensor that is left out is
/// not present. It may also set the shape of an output that updates an input, which is otherwise
/// the input's.
///
/// Two more members are optional. Choose takes other calls for some nodes, by calls->Take, or
/// refuses them. A class with kIsTolerant = true serves IRs that lack an output for a tensor that
/// is updated, and nodes with attributes that the calls do not take; both are errors otherwise.
///
///     static Status Choose(const TensorView* views, ATTRIBUTES..., ChosenCalls* calls)
///
/// Only the plain functions of operator/graph_core.h are here in C and in C++ before C++17.
#ifndef ADVSTEP_ADVANCE_STEP_GRAPH_OPERATOR_H_
#define ADVSTEP_ADVANCE_STEP_GRAPH_OPERATOR_H_

#include "advance_step/operator/graph_core.h"

#if defined(__cplusplus) && __cplusplus >= 201703L

#include "advance_step/operator.h"
#include "advance_step/operator/graph_tie.hpp"

/// Ties the type of graph operators `Type` to the two calls of an operator. The macro stands at
/// namespace scope, after the declarations of the calls.
#define ADVSTEP_GRAPH_OPERATOR(Type, call, Operator)                                       \
    static constexpr AdvStepGraphOperator advstepGraphOperatorOf_##Type =                  \
        ::advance_step::op::MakeGraphTie<Operator, &call##GetWorkspaceSize, &call>(#Type); \
    static const ::advance_step::op::GraphRegistration advstepGraphRegistrationOf_##Type(  \
        &advstepGraphOperatorOf_##Type);

#endif

#endif /* ADVSTEP_ADVANCE_STEP_GRAPH_OPERATOR_H_ */
