// SPDX-License-Identifier: Apache-2.0
/// Host operators in aclnn's two calls: an operator of your own whose work is a plain function on
/// the host, with any tensors, lists, scalars and texts. docs/your_operator.md shows one.
///
/// Phase one reads its arguments by value (advstepReadTensor, advstepReadTensorList,
/// advstepReadScalar, ...), makes a plan of them (advstepMakeHostPlan), and an executor of the plan
/// (advstepMakeHostExecutor). Phase two is advstepRunHostExecutor. A plan never changes and may
/// have many executors: a library that keeps its plans finds them again for equal calls.
///
/// In comparison with an operator of operator.h, there are no cores and no tiling. There is no
/// limit to the number of tensors or the size of the arguments, tensors may be any views, and they
/// may overlap unless the operator forbids it. Plain C and C++.
#ifndef ADVSTEP_ADVANCE_STEP_HOST_CALL_H_
#define ADVSTEP_ADVANCE_STEP_HOST_CALL_H_

#include "advance_step/operator/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the structures here. The registration of a call of another version fails.
#define ADVSTEP_HOST_CALL_INTERFACE 1u

/// One run of a host operator.
typedef struct {
    uint32_t structBytes;             /* sizeof(AdvStepHostRun) */
    uint32_t tensorCount;             /* entries of tensors */
    const AdvStepTensorView* tensors; /* those of the plan, with their present addresses; strides of
                                         dims of 1 are 1 */
    void* workspace;                  /* NULL if the plan needs none */
    uint64_t workspaceBytes;          /* those of the plan */
    char* message;                    /* room for the reason of a failure, a text that ends with 0 */
    size_t messageSize;               /* bytes of message */
} AdvStepHostRun;

/// Does the work, on any thread, in the default floating-point environment. It must not wait for
/// the device. Several runs of one plan may be under way at a time.
/// @param[in] args  those of the plan
/// @return 0, or the code with which the task fails, with a message "<call>: <message>"; an
///         exception fails it with ACL_ERROR_FAILURE
typedef int32_t (*AdvStepRunHostCall)(const void* args, const AdvStepHostRun* run);

/// Releases the arguments of a plan, exactly once, on any thread. It may call no function of this
/// library.
typedef void (*AdvStepReleaseHostCall)(void* args);

/// The table of an operator. The table and everything that it points to are static data.
typedef struct {
    uint32_t structBytes;      /* sizeof(AdvStepHostCallTable) */
    uint32_t interfaceVersion; /* ADVSTEP_HOST_CALL_INTERFACE */
    const char* call;          /* name of phase two, which begins with "aclnn" */
    AdvStepRunHostCall run;
    AdvStepReleaseHostCall release; /* NULL: there is nothing to release */
} AdvStepHostCallTable;

/// A registered operator. It is never freed.
typedef struct AdvStepHostCall AdvStepHostCall;

/// How an operator uses a tensor.
typedef enum {
    ADVSTEP_READS = 1,
    ADVSTEP_WRITES = 2,
    ADVSTEP_READS_AND_WRITES = 3
} AdvStepTensorAccess;

/// A tensor of a plan.
typedef struct {
    AdvStepTensorView view; /* of advstepReadTensor; its data may be NULL, to be set before a run */
    const char* name;       /* in messages; static text */
    AdvStepTensorAccess access;
    uint32_t argument; /* place among the tensors and lists of the call, from 0 on, ascending */
    int32_t member;    /* place in its list, from 0 on; -1: the argument is a tensor */
} AdvStepHostTensor;

/// What a plan is made of. advstepMakeHostPlan copies it, except args and texts.
typedef struct {
    uint32_t structBytes; /* sizeof(AdvStepHostPlanRequest) */
    uint32_t tensorCount; /* entries of tensors */
    const AdvStepHostTensor* tensors;
    void* args;              /* the argument of run and release; never changed */
    uint64_t workspaceBytes; /* the size that phase one reports; 0: phase two needs no workspace */
    int32_t isShort;         /* 1: a run takes a few us, and never blocks on a lock that is held for
                                long: no thread is woken for it */
} AdvStepHostPlanRequest;

/// A plan: what a call does, apart from the addresses of its tensors. It is counted: the caller of
/// advstepMakeHostPlan, each executor, each queued task and each captured model has a share. The
/// last one releases the arguments.
typedef struct AdvStepHostPlan AdvStepHostPlan;

/// Registers an operator. Its library stays loaded, because queued tasks and captured models point
/// to its functions. If another library has registered the same call, the log gets a warning, and
/// each refuses the executors of the other.
/// @param[out] call  the operator; NULL on failure
/// @retval ACLNN_ERR_PARAM_NULLPTR  table or call is null
/// @retval ACLNN_ERR_PARAM_INVALID  the table is wrong; the message names the place
ADVSTEP_API aclnnStatus advstepRegisterHostCall(const AdvStepHostCallTable* table,
                                                const AdvStepHostCall** call);

/// Makes a plan. If it fails, the arguments have been released, unless it could not find them: call
/// or request is null, or structBytes is wrong.
/// @retval ACLNN_ERR_PARAM_NULLPTR  an argument, tensors (with a tensorCount), a name or a shape is
///                                  null
/// @retval ACLNN_ERR_PARAM_INVALID  a tensor has a negative dim, a negative stride of a dim above 1,
///                                  no addresses in memory, or a data type of unknown size; places
///                                  are not ascending; access is none
/// @retval ACLNN_ERR_INNER          structBytes is wrong; memory is short
ADVSTEP_API aclnnStatus advstepMakeHostPlan(const AdvStepHostCall* call,
                                            const AdvStepHostPlanRequest* request,
                                            AdvStepHostPlan** plan);

/// Returns the caller's share of a plan. NULL is allowed.
ADVSTEP_API void advstepReleaseHostPlan(AdvStepHostPlan* plan);

/// Makes an executor of a plan, for the device of the current context.
/// @param[in]  addresses      the storage address of each tensor of the plan (AdvStepTensorView's
///                            data); NULL: those of the request
/// @param[out] workspaceSize  workspaceBytes of the plan
/// @retval ACLNN_ERR_PARAM_NULLPTR  plan or an output is null
/// @retval ACLNN_ERR_RUNTIME_ERROR  the thread has no current context
ADVSTEP_API aclnnStatus advstepMakeHostExecutor(AdvStepHostPlan* plan, void* const* addresses,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);

/// Phase two: spends the executor (unless it is repeatable) and queues its task, which is captured,
/// replayed, traced and limited in time as a kernel is. Checks the memory of all tensors and the
/// workspace first.
/// @retval ACLNN_ERR_PARAM_NULLPTR  call or executor is null; a tensor with elements has no address;
///                                  the workspace is null and its size is not 0
/// @retval ACLNN_ERR_PARAM_INVALID  the executor has been used or destroyed, is none of this
///                                  library, or belongs to another operator; workspaceSize is less
///                                  than phase one reported; the workspace overlaps a tensor
/// @retval ACLNN_ERR_RUNTIME_ERROR  a tensor is not inside one allocation of the device or not
///                                  aligned to its elements; the stream is none, or of another
///                                  context; the executor is for another device
ADVSTEP_API aclnnStatus advstepRunHostExecutor(const AdvStepHostCall* call, void* workspace,
                                               uint64_t workspaceSize, aclOpExecutor* executor,
                                               aclrtStream stream);

/// Stores the message of a failed check for aclGetRecentErrMsg, as "<call>GetWorkspaceSize:
/// <message>", and returns the code. `call` is the name of phase two.
ADVSTEP_API aclnnStatus advstepRefuseHostCall(const char* call, aclnnStatus code,
                                              const char* message);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ADVANCE_STEP_HOST_CALL_H_ */
