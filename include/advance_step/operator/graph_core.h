// SPDX-License-Identifier: Apache-2.0
/// The plain-data boundary of operators in graph mode. Part of graph_operator.h.
///
/// A library ties types of graph operators to pairs of aclnn calls. Graph mode
/// (libadvance_step_graph.so) looks for the tie of a type when it plans a graph. C99 and C++11.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_GRAPH_CORE_H_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_GRAPH_CORE_H_

#include "advance_step/operator/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ADVSTEP_GRAPH_MOST_DIMS 8        /* axes of an inferred shape */
#define ADVSTEP_GRAPH_MOST_ATTRIBUTES 32 /* attributes of a type */
#define ADVSTEP_GRAPH_MOST_TENSORS 48    /* tensors of a type, whose call may take a list */

/// The kinds of attributes, as the IR names them.
typedef enum {
    ADVSTEP_GRAPH_INT = 0,
    ADVSTEP_GRAPH_FLOAT = 1,
    ADVSTEP_GRAPH_BOOL = 2,
    ADVSTEP_GRAPH_NUMBER = 3, /* an aclScalar, which may be Int, Float or Bool in the IR */
    ADVSTEP_GRAPH_LIST_INT = 4,
    ADVSTEP_GRAPH_LIST_FLOAT = 5,
    ADVSTEP_GRAPH_LIST_BOOL = 6,
    ADVSTEP_GRAPH_TEXT = 7, /* String in the IR */
    ADVSTEP_GRAPH_TYPE = 8, /* Type in the IR: an aclDataType */
    /* The others are no attributes in the IR, but facts of the table's tensor of the same name.
     * The first two are the elements of an input, which graph mode reads on the host while it plans
     * the node; none if the node leaves it out. They are a LIST_INT if they are whole numbers, and
     * a LIST_DOUBLE otherwise. */
    ADVSTEP_GRAPH_INPUT_INTS = 9,     /* of an input of INT32 or INT64 */
    ADVSTEP_GRAPH_INPUT_NUMBERS = 10, /* of an input of whole or real numbers */
    /* The tensor is a dynamic input or output: a list. The value, an Int, is the number of its
     * tensors, which follow one another wherever an array has an entry for each tensor. */
    ADVSTEP_GRAPH_LIST_LENGTH = 11,
    ADVSTEP_GRAPH_LIST_DOUBLE = 12, /* of values only */
    /* The dims of an input, a LIST_INT. The calls read no element of it, and it may have no memory,
     * so that graph mode may run the node before the input has been computed. */
    ADVSTEP_GRAPH_INPUT_DIMS = 13
} AdvStepGraphKind;

/// An attribute of a type.
typedef struct {
    const char* name; /* as the aclnn call's header spells it */
    int32_t kind;     /* AdvStepGraphKind, except ADVSTEP_GRAPH_LIST_DOUBLE */
    int64_t least;    /* the range of an ADVSTEP_GRAPH_INT */
    int64_t most;
} AdvStepGraphAttribute;

/// The value of an attribute of a node.
typedef struct {
    int32_t kind;     /* AdvStepGraphKind of the value itself */
    int64_t integer;  /* the value of an Int, a Bool or a Type */
    double real;      /* the value of a Float */
    const void* list; /* the values of a list: int64_t, float, bool or double; or a text, which ends
                         with 0 */
    uint64_t count;   /* the number of values of a list, or of the letters of a text */
} AdvStepGraphValue;

/// The shape and data type of an output.
typedef struct {
    aclDataType dataType; /* ACL_DT_UNDEFINED: the shape was not inferred */
    int64_t rank;         /* at most ADVSTEP_GRAPH_MOST_DIMS */
    int64_t dims[ADVSTEP_GRAPH_MOST_DIMS];
} AdvStepGraphShape;

/// A pair of aclnn calls that runs a node: the two calls of a tie, or others that its function
/// choose has set.
typedef struct {
    /// Phase one. tensors has the tensors of the tie's table, in its order; values has an entry for
    /// each attribute.
    aclnnStatus (*plan)(const aclTensor* const* tensors, const AdvStepGraphValue* values,
                        uint64_t* workspaceSize, aclOpExecutor** executor);
    /// Phase two.
    aclnnStatus (*run)(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                       aclrtStream stream);
} AdvStepGraphCalls;

/// A tie: a type of graph operators and the aclnn calls that run it. The tie and everything that it
/// points to are static data.
typedef struct {
    uint32_t structBytes;              /* sizeof(AdvStepGraphOperator) */
    uint32_t attributeCount;           /* at most ADVSTEP_GRAPH_MOST_ATTRIBUTES */
    const char* type;                  /* as REG_OP spells it */
    const AdvStepOperatorTable* table; /* of the aclnn calls; isOptional: plan takes null for it */
    const AdvStepGraphAttribute* attributes; /* in the order of the aclnn call */
    /// Phase one. tensors has the tensors of the table, in its order; values has an entry for each
    /// attribute.
    aclnnStatus (*plan)(const aclTensor* const* tensors, const AdvStepGraphValue* values,
                        uint64_t* workspaceSize, aclOpExecutor** executor);
    /// Phase two.
    aclnnStatus (*run)(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                       aclrtStream stream);
    /// Sets the shapes of the written tensors that are no inputs; NULL if the operator has none.
    /// views and shapes have an entry for each tensor of the table; the view of such an output has
    /// the data type ACL_DT_UNDEFINED. It may also set the shape of a written tensor that is an
    /// input: the output then has that shape, and a run needs an input of as many bytes. After a
    /// failure, message has its text, which ends with 0.
    aclnnStatus (*infer)(const AdvStepTensorView* views, const AdvStepGraphValue* values,
                         AdvStepGraphShape* shapes, char* message, uint64_t messageBytes);
    /// Chooses the calls of one node; NULL: plan and run serve every node. views is as for infer,
    /// and *calls is plan and run before. After a failure, which refuses the node, message has its
    /// text, which ends with 0. A tie that ends before this member has neither this nor the next.
    aclnnStatus (*choose)(const AdvStepTensorView* views, const AdvStepGraphValue* values,
                          AdvStepGraphCalls* calls, char* message, uint64_t messageBytes);
    /// 1: a node may lack outputs of updates, and have attributes that the calls do not take. A
    /// tensor that its IR lacks is an input that is not linked. 0: all three are errors of the IR.
    int32_t isTolerant;
} AdvStepGraphOperator;

/// Ties a type of graph operators to its aclnn calls while a library is loaded. The library then
/// stays loaded. If a tie is wrong, the log gets an error, and graph mode refuses the type with the
/// same message. A later tie of the same type is ignored, with a warning in the log.
/// @retval ACLNN_ERR_PARAM_NULLPTR  tie is null
/// @retval ACLNN_ERR_PARAM_INVALID  the tie is wrong; the message names the place
ADVSTEP_API aclnnStatus advstepTieGraphOperator(const AdvStepGraphOperator* tie);

/// Finds the tie of a type.
/// @param[out] tie  NULL: no library has tied the type
/// @retval ACLNN_ERR_PARAM_NULLPTR  type or tie is null
/// @retval ACLNN_ERR_PARAM_INVALID  the tie of the type is wrong; the message names the place
ADVSTEP_API aclnnStatus advstepFindGraphOperator(const char* type,
                                                 const AdvStepGraphOperator** tie);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ADVANCE_STEP_OPERATOR_GRAPH_CORE_H_ */
