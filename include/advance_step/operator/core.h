// SPDX-License-Identifier: Apache-2.0
/// The plain-data boundary between an operator's library and this one. Part of operator.h.
///
/// Operators are written in C++17 with the classes of operator.h, which call these functions. Only
/// plain structures and C functions are between the two libraries, so they may come from different
/// compilers and C++ standard libraries. C99 and C++11.
///
/// Codes and messages are those of the two calls of an operator. aclGetRecentErrMsg returns the
/// messages.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_CORE_H_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_CORE_H_

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the structures here and in kernel.hpp. The registration of an operator of another
/// version fails.
#define ADVSTEP_OPERATOR_INTERFACE 2u
#define ADVSTEP_OPERATOR_MOST_TENSORS 24  /* tensors of a call */
#define ADVSTEP_OPERATOR_MOST_PAYLOAD 512 /* bytes of a payload */

/// A tensor as an operator sees it. The pointers point into the aclTensor that it describes.
typedef struct AdvStepTensorView {
    aclDataType dataType; /* ACL_DT_UNDEFINED: the call leaves out this optional tensor */
    aclFormat format;
    int64_t rank;
    const int64_t* dims;    /* rank entries */
    const int64_t* strides; /* rank entries, elements */
    int64_t offset;         /* elements from data to the first element */
    int64_t itemSize;       /* bytes of one element */
    uint8_t* data;          /* storage address; NULL while unknown */
    int64_t packedBytes;    /* bytes of a contiguous tensor of a size that fits memory; -1: other */
} AdvStepTensorView;

/// A tensor of an operator's table.
typedef struct {
    const char* name;   /* as the operator's header spells it */
    uint64_t addressAt; /* offset in the payload of the first element's address */
    int32_t isWritten;  /* 1: no other tensor may overlap it */
    int32_t isOptional; /* 1: the call may pass null for it */
} AdvStepOperatorTensor;

/// The table of an operator. The table and everything that it points to are static data. The first
/// three members are the same in every version, so that a refusal names the operator.
typedef struct {
    uint32_t structBytes;                 /* sizeof(AdvStepOperatorTable) */
    uint32_t interfaceVersion;            /* ADVSTEP_OPERATOR_INTERFACE */
    const char* call;                     /* name of phase two, which begins with "aclnn" */
    const AdvStepOperatorTensor* tensors; /* in the order of the header */
    uint32_t tensorCount;                 /* at most ADVSTEP_OPERATOR_MOST_TENSORS */
    uint32_t payloadBytes;                /* at most ADVSTEP_OPERATOR_MOST_PAYLOAD */
    uint64_t checksDims; /* 1: the operator refuses negative dims itself; 0: it does not see them */
} AdvStepOperatorTable;

/// A registered operator. It is never freed.
typedef struct AdvStepOperator AdvStepOperator;

/// The properties of the device and the process that an operator plans with.
typedef struct {
    uint32_t structBytes;       /* sizeof(AdvStepOperatorEnvironment) */
    int32_t conformance;        /* ADVANCE_STEP_CONFORMANCE: 0 standard, 1 vllm, 2 exact */
    int32_t onDivergence;       /* ADVANCE_STEP_ON_DIVERGENCE: 0 ignore, 1 warn, 2 error */
    int32_t vectorCores;        /* cores that the launch may use, at least 1 */
    int32_t socVectorCores;     /* cores of the SoC */
    int64_t unifiedBufferBytes; /* bytes of the buffer of one vector core */
} AdvStepOperatorEnvironment;

/// One call of phase one.
typedef struct {
    uint32_t structBytes;    /* sizeof(AdvStepOperatorCall) */
    uint32_t attributeCount; /* entries of attributes */
    const AdvStepOperator* op;
    const aclTensor* const* tensors; /* the tensors of the table, in its order */
    const int64_t* attributes;       /* the attributes as numbers: the plan depends on them */
    uint64_t* workspaceSize;         /* an output of phase one */
    aclOpExecutor** executor;        /* an output of phase one */
    uint64_t kept[40]; /* data of this library between advstepBeginPlan and advstepFinishPlan */
} AdvStepOperatorCall;

/// The plan of a call.
typedef struct {
    uint32_t structBytes; /* sizeof(AdvStepOperatorPlan) */
    int32_t coreCount;    /* simulated cores with work, from 0 to the environment's vectorCores */
    const void* program;  /* advance_step::op::KernelProgram, static data */
    int64_t rows;         /* rows of work, at least 0: many rows may run on several threads */
    const void* payload;  /* payloadBytes of the table; kernels get a copy at a multiple of 16 */
    uint64_t workspaceBytes; /* the size that phase one reports; 0: phase two needs no workspace */
    int64_t workspaceAt;     /* offset in the payload of the workspace's address; -1: none */
    int32_t allDistinct;     /* 1: read tensors too must not overlap each other */
    int64_t work;            /* the launch takes at most as long as so many rows of about 2 ns; 0:
                                that is not known */
} AdvStepOperatorPlan;

/// The value of an aclScalar.
typedef struct {
    aclDataType dataType;
    uint32_t byteCount;      /* bytes of the value */
    unsigned char bytes[16]; /* the value, in the host's byte order, followed by zeros */
} AdvStepScalarValue;

/// Registers an operator while its library is loaded. The library then stays loaded, because queued
/// launches, executors and captured models point to its kernels: dlclose returns 0 and does not
/// unload it. If a table is wrong, the log gets an error, and every call of its operator fails. If
/// another library has registered the same call, both tables are valid, and the log gets a warning
/// with both libraries.
/// @param[out] op  the operator, also for a wrong table; NULL if the code is
///                 ACLNN_ERR_PARAM_NULLPTR or memory is short
/// @retval ACLNN_ERR_PARAM_NULLPTR  table or op is null
/// @retval ACLNN_ERR_PARAM_INVALID  the table is wrong; the message names the place
ADVSTEP_API aclnnStatus advstepRegisterOperator(const AdvStepOperatorTable* table,
                                                const AdvStepOperator** op);

/// Begins phase one: looks for an equal plan that was made before, and makes views of the tensors
/// if there is none.
/// @param[out] views        an entry for each tensor of the table
/// @param[out] environment  that of the current context's device; the caller has set structBytes
/// @param[out] isPlanned    1: an equal plan was found, and the call's outputs are set
/// @retval ACLNN_ERR_PARAM_NULLPTR  a required tensor or an output is null
/// @retval ACLNN_ERR_PARAM_INVALID  a tensor was destroyed, or has a negative dim (without
///                                  checksDims)
/// @retval ACLNN_ERR_RUNTIME_ERROR  the thread has no current context
/// @retval ACLNN_ERR_INNER          the operator's table is wrong; structBytes is wrong
ADVSTEP_API aclnnStatus advstepBeginPlan(AdvStepOperatorCall* call, AdvStepTensorView* views,
                                         AdvStepOperatorEnvironment* environment,
                                         int32_t* isPlanned);

/// Ends phase one: makes the executor and sets the call's outputs.
/// @param[in] call   the argument of advstepBeginPlan, unchanged since
/// @param[in] views  the views that advstepBeginPlan has set
/// @retval ACLNN_ERR_PARAM_NULLPTR  an argument is null
/// @retval ACLNN_ERR_PARAM_INVALID  a written tensor (with allDistinct: any tensor) overlaps
///                                  another tensor; elements of a tensor have no whole bytes, or
///                                  no addresses in memory
/// @retval ACLNN_ERR_INNER          the plan is wrong; the message names the place
ADVSTEP_API aclnnStatus advstepFinishPlan(const AdvStepOperatorCall* call,
                                          const AdvStepTensorView* views,
                                          const AdvStepOperatorPlan* plan);

/// Phase two: spends the executor (unless it is repeatable) and queues its launch. The codes are
/// those of aclnnAdvanceStep, and:
/// @retval ACLNN_ERR_INNER          the operator's table is wrong
/// @retval ACLNN_ERR_PARAM_INVALID  the workspace overlaps a tensor; the executor belongs to
///                                  another operator, or to an operator of the same name in
///                                  another library
ADVSTEP_API aclnnStatus advstepRunOperator(const AdvStepOperator* op, void* workspace,
                                           uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

/// Stores the message of a failed check for aclGetRecentErrMsg, as "<call>GetWorkspaceSize:
/// <message>", and returns the code.
/// @param[in] message  NULL: the caller is in a catch block of an unknown exception. A pthread_exit
///                     that it has caught is stopped.
ADVSTEP_API aclnnStatus advstepRefuseCall(const AdvStepOperator* op, aclnnStatus code,
                                          const char* message);

/// Reads a scalar.
/// @retval ACLNN_ERR_PARAM_NULLPTR  scalar or value is null
/// @retval ACLNN_ERR_PARAM_INVALID  scalar has been destroyed
ADVSTEP_API aclnnStatus advstepReadScalar(const aclScalar* scalar, AdvStepScalarValue* value);

/// Reads a tensor. The pointers of the view live as long as the tensor.
/// @retval ACLNN_ERR_PARAM_NULLPTR  tensor or view is null
/// @retval ACLNN_ERR_PARAM_INVALID  tensor has been destroyed
ADVSTEP_API aclnnStatus advstepReadTensor(const aclTensor* tensor, AdvStepTensorView* view);

/// Finds the members of a list of tensors, which may be null. They live as long as the list.
/// @retval ACLNN_ERR_PARAM_NULLPTR  an argument is null
/// @retval ACLNN_ERR_PARAM_INVALID  list has been destroyed
ADVSTEP_API aclnnStatus advstepReadTensorList(const aclTensorList* list,
                                              const aclTensor* const** tensors, uint64_t* count);

/// As advstepReadTensorList, for a list of scalars.
/// @retval ACLNN_ERR_PARAM_NULLPTR  an argument is null
/// @retval ACLNN_ERR_PARAM_INVALID  list has been destroyed
ADVSTEP_API aclnnStatus advstepReadScalarList(const aclScalarList* list,
                                              const aclScalar* const** scalars, uint64_t* count);

/// Finds the values of an array. They are not copied, and live as long as the array.
/// @retval ACLNN_ERR_PARAM_NULLPTR  an argument is null
/// @retval ACLNN_ERR_PARAM_INVALID  array has been destroyed
ADVSTEP_API aclnnStatus advstepReadIntArray(const aclIntArray* array, const int64_t** values,
                                            uint64_t* count);
/// As advstepReadIntArray, for an array of floats.
/// @retval ACLNN_ERR_PARAM_NULLPTR  an argument is null
/// @retval ACLNN_ERR_PARAM_INVALID  array has been destroyed
ADVSTEP_API aclnnStatus advstepReadFloatArray(const aclFloatArray* array, const float** values,
                                              uint64_t* count);
/// As advstepReadIntArray, for an array of bools.
/// @retval ACLNN_ERR_PARAM_NULLPTR  an argument is null
/// @retval ACLNN_ERR_PARAM_INVALID  array has been destroyed
ADVSTEP_API aclnnStatus advstepReadBoolArray(const aclBoolArray* array, const bool** values,
                                             uint64_t* count);

/// Returns the name of a data type as acl/base/core.h spells it, or NULL for an unknown number.
ADVSTEP_API const char* advstepDataTypeName(aclDataType dataType);

/// Returns the name of a format as acl/base/core.h spells it, or NULL for an unknown number.
ADVSTEP_API const char* advstepFormatName(aclFormat format);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ADVANCE_STEP_OPERATOR_CORE_H_ */
