// SPDX-License-Identifier: Apache-2.0
/// The plain-data boundary between an operator's library and this one. Part of operator.h.
///
/// Operators are written in C++17 with the classes of operator.h, which call these functions. The
/// two libraries may come from different compilers and C++ standard libraries: only plain
/// structures and C functions are between them. C99 and C++11.
///
/// Codes and messages are those of the two calls of an operator. The functions keep their messages
/// for aclGetRecentErrMsg.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_CORE_H_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_CORE_H_

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the structures here and in kernel.hpp. A library with operators of another
/// version is refused when it registers them.
#define ADVSTEP_OPERATOR_INTERFACE 1u
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
    int32_t isOptional; /* 1: the call may leave it out */
} AdvStepOperatorTensor;

/// The table of an operator. It and all that it points to are static data.
typedef struct {
    uint32_t structBytes;                 /* sizeof(AdvStepOperatorTable) */
    uint32_t interfaceVersion;            /* ADVSTEP_OPERATOR_INTERFACE */
    const char* call;                     /* name of phase two, which begins with "aclnn" */
    const AdvStepOperatorTensor* tensors; /* in the order of the header */
    uint32_t tensorCount;                 /* at most ADVSTEP_OPERATOR_MOST_TENSORS */
    uint32_t payloadBytes;                /* at most ADVSTEP_OPERATOR_MOST_PAYLOAD */
} AdvStepOperatorTable;

/// A registered operator. It is never freed.
typedef struct AdvStepOperator AdvStepOperator;

/// The properties of the device and the process that an operator plans with.
typedef struct {
    uint32_t structBytes;       /* sizeof(AdvStepOperatorEnvironment) */
    int32_t conformance;        /* 0 standard, 1 vllm, 2 exact: the setting */
    int32_t onDivergence;       /* 0 ignore, 1 warn, 2 error: the setting */
    int32_t vectorCores;        /* cores that the launch may use, at least 1 */
    int32_t socVectorCores;     /* cores of the SoC */
    int64_t unifiedBufferBytes; /* bytes of the buffer of one vector core */
} AdvStepOperatorEnvironment;

/// One call of phase one.
typedef struct {
    uint32_t structBytes;    /* sizeof(AdvStepOperatorCall) */
    uint32_t attributeCount; /* entries of attributes */
    const AdvStepOperator* op;
    const aclTensor* const* tensors; /* those of the table, in its order */
    const int64_t* attributes;       /* all that the plan depends on besides the tensors */
    uint64_t* workspaceSize;         /* the outputs of phase one */
    aclOpExecutor** executor;
    uint64_t kept[40]; /* the library's own, from advstepBeginPlan on */
} AdvStepOperatorCall;

/// The plan of a call.
typedef struct {
    uint32_t structBytes; /* sizeof(AdvStepOperatorPlan) */
    int32_t coreCount;    /* simulated cores with work, from 0 to the environment's vectorCores */
    const void* program;  /* advance_step::op::KernelProgram, static data */
    int64_t rows;         /* of work, at least 0: many rows run on several threads */
    const void* payload;  /* payloadBytes of the table, 8-byte aligned; it is copied */
    uint64_t workspaceBytes; /* the size that phase one reports */
    int64_t workspaceAt;     /* offset in the payload of the workspace's address; -1: none */
    int32_t allDistinct;     /* 1: tensors that are only read must not overlap each other either */
} AdvStepOperatorPlan;

/// A value that aclCreateScalar has copied.
typedef struct {
    aclDataType dataType;
    uint32_t byteCount;      /* bytes of the value */
    unsigned char bytes[16]; /* the value, in the host's byte order; the others are 0 */
} AdvStepScalarValue;

/// Registers an operator while its library is loaded. The library stays loaded from then on,
/// because queued launches, executors and captured models point to its kernels: dlclose returns 0
/// and leaves it. A wrong table is written to the log, and refused by every call of its operator. A
/// table whose call another library has registered is taken; the log gets a warning with both
/// libraries.
/// @param[out] op  the operator, also for a wrong table; NULL with ACLNN_ERR_PARAM_NULLPTR and if
///                 memory is short
/// @retval ACLNN_ERR_PARAM_NULLPTR  table or op is null
/// @retval ACLNN_ERR_PARAM_INVALID  the table is wrong; the message says where
ADVSTEP_API aclnnStatus advstepRegisterOperator(const AdvStepOperatorTable* table,
                                                const AdvStepOperator** op);

/// The first part of phase one: looks for an equal plan that was made before, or makes views of the
/// tensors.
/// @param[out] views        an entry for each tensor of the table
/// @param[out] environment  of the current context's device; the caller has set structBytes
/// @param[out] isPlanned    1: an equal plan was found, and the call's outputs are set
/// @retval ACLNN_ERR_PARAM_NULLPTR  a required tensor or an output is null
/// @retval ACLNN_ERR_PARAM_INVALID  a tensor was destroyed
/// @retval ACLNN_ERR_RUNTIME_ERROR  the thread has no current context
/// @retval ACLNN_ERR_INNER          the operator's table is wrong; a structure has another size
ADVSTEP_API aclnnStatus advstepBeginPlan(AdvStepOperatorCall* call, AdvStepTensorView* views,
                                         AdvStepOperatorEnvironment* environment,
                                         int32_t* isPlanned);

/// The last part of phase one: makes the executor and sets the call's outputs.
/// @param[in] call   as advstepBeginPlan has left it
/// @param[in] views  as advstepBeginPlan has set them
/// @retval ACLNN_ERR_PARAM_NULLPTR  an argument is null
/// @retval ACLNN_ERR_PARAM_INVALID  a written tensor (with allDistinct: any tensor) overlaps
/// another
/// @retval ACLNN_ERR_INNER          the plan is wrong; the message says where
ADVSTEP_API aclnnStatus advstepFinishPlan(const AdvStepOperatorCall* call,
                                          const AdvStepTensorView* views,
                                          const AdvStepOperatorPlan* plan);

/// Phase two: spends the executor (unless it is repeatable) and queues its launch.
/// The codes are those of aclnnAdvanceStep, and:
/// @retval ACLNN_ERR_INNER          the operator's table is wrong
/// @retval ACLNN_ERR_PARAM_INVALID  the executor belongs to another operator, or to one of the same
///                                  name in another library
ADVSTEP_API aclnnStatus advstepRunOperator(const AdvStepOperator* op, void* workspace,
                                           uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

/// Keeps the message of a check that failed, as "<call>GetWorkspaceSize: <message>", and returns
/// its code.
ADVSTEP_API aclnnStatus advstepRefuseCall(const AdvStepOperator* op, aclnnStatus code,
                                          const char* message);

/// Reads a scalar.
/// @retval ACLNN_ERR_PARAM_NULLPTR  scalar or value is null
ADVSTEP_API aclnnStatus advstepReadScalar(const aclScalar* scalar, AdvStepScalarValue* value);

/// Reads the values of an array, which stay where they are until it is destroyed.
/// @retval ACLNN_ERR_PARAM_NULLPTR  an argument is null
ADVSTEP_API aclnnStatus advstepReadIntArray(const aclIntArray* array, const int64_t** values,
                                            uint64_t* count);
/// Reads the values of an array, which stay where they are until it is destroyed.
/// @retval ACLNN_ERR_PARAM_NULLPTR  an argument is null
ADVSTEP_API aclnnStatus advstepReadFloatArray(const aclFloatArray* array, const float** values,
                                              uint64_t* count);
/// Reads the values of an array, which stay where they are until it is destroyed.
/// @retval ACLNN_ERR_PARAM_NULLPTR  an argument is null
ADVSTEP_API aclnnStatus advstepReadBoolArray(const aclBoolArray* array, const bool** values,
                                             uint64_t* count);

/// Returns the name of a data type as the header spells it, or NULL for an unknown number.
ADVSTEP_API const char* advstepDataTypeName(aclDataType dataType);

/// Returns the name of a format as the header spells it, or NULL for an unknown number.
ADVSTEP_API const char* advstepFormatName(aclFormat format);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ADVANCE_STEP_OPERATOR_CORE_H_ */
