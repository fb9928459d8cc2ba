// SPDX-License-Identifier: Apache-2.0
/// Communicators of HCCL: ranks of one or several processes that exchange data of their devices.
///
/// libadvance_step does not have these functions. libhccl.so of the install prefix that is laid out
/// like CANN's has them. docs/hccl.md has the settings and the limits.
///
/// A call that fails leaves `<call>: <message>` for aclGetRecentErrMsg. Any thread may make any
/// call. In the child of a fork there is no communicator of the parent. Besides the codes below,
/// each call returns:
///   - HCCL_E_PTR: a pointer is NULL
///   - HCCL_E_PARA: comm is no communicator of this process
///   - HCCL_E_MEMORY: memory of the host is short
#ifndef ADVSTEP_HCCL_HCCL_COMM_H_
#define ADVSTEP_HCCL_HCCL_COMM_H_

#include <stdbool.h>

#include "acl/acl_op.h"
#include "acl/acl_rt.h"
#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Starts to listen for the ranks of one communicator, and returns where. The calling process must
/// live until they have met.
/// @retval HCCL_E_PARA     HCCL_IF_IP, HCCL_SOCKET_IFNAME or HCCL_CONNECT_TIMEOUT is wrong
/// @retval HCCL_E_SYSCALL  no socket or no thread can be had
ADVSTEP_PREFIX_API HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo);

/// Waits for all ranks, for HCCL_CONNECT_TIMEOUT seconds, and makes the communicator of the
/// thread's current device.
/// @param[in] nRanks    number of ranks; at least 1
/// @param[in] rootInfo  of HcclGetRootInfo; it serves one communicator
/// @param[in] rank      0 <= rank < nRanks, another one in each call
/// @retval HCCL_E_PARA         rank is outside; the ranks do not agree about nRanks or the name;
///                             rootInfo is no root info; a setting is wrong
/// @retval HCCL_E_RUNTIME      the thread has no current device
/// @retval HCCL_E_TIMEOUT      ranks are missing, which the message names
/// @retval HCCL_E_TCP_CONNECT  nobody listens any more; a rank could not be reached
ADVSTEP_PREFIX_API HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo,
                                                   uint32_t rank, HcclComm* comm);

/// The same with a configuration.
/// @retval HCCL_E_PARA  also: a field of config or its head is wrong
ADVSTEP_PREFIX_API HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks,
                                                         const HcclRootInfo* rootInfo,
                                                         uint32_t rank,
                                                         const HcclCommConfig* config,
                                                         HcclComm* comm);

/// The same for the ranks of a rank table. Rank 0 listens at its server_id, port HCCL_IF_BASE_PORT
/// plus its device_id; on 127.0.0.1 if there is one server.
/// @param[in] clusterInfo  path of the rank table, a JSON file
/// @retval HCCL_E_OPEN_FILE_FAILURE  the file cannot be read
/// @retval HCCL_E_PARA               it is no rank table, or rank is not in it
ADVSTEP_PREFIX_API HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank,
                                                      HcclComm* comm);

/// The same with a configuration.
ADVSTEP_PREFIX_API HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank,
                                                            HcclCommConfig* config, HcclComm* comm);

/// Makes a communicator of devices of this process; devices[i] has rank i in comms[i].
/// @retval HCCL_E_PARA  ndev is 0; a device does not exist or comes twice
ADVSTEP_PREFIX_API HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms);

/// Makes a communicator of some ranks of another one. Its members make this call, with the same
/// ranks in the same order; the others make none.
/// @param[in] rankIds        ranks of *comm
/// @param[in] subCommId      tells several ones of the same ranks apart that are made at a time
/// @param[in] subCommRankId  the caller's rank in the new one: rankIds[subCommRankId] is its rank
/// in
///                           *comm
/// @param[in] config         NULL: the default
/// @retval HCCL_E_PARA     a rank is outside or comes twice; the caller's is not at subCommRankId
/// @retval HCCL_E_TIMEOUT  a rank did not make this call in HCCL_CONNECT_TIMEOUT seconds
ADVSTEP_PREFIX_API HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum,
                                                      uint32_t* rankIds, uint64_t subCommId,
                                                      uint32_t subCommRankId,
                                                      HcclCommConfig* config, HcclComm* subComm);

/// Ends a communicator at once. Its operators that are queued or running fail, and so do those of
/// other ranks that need this one: synchronise the streams before. Its sub-communicators stay.
ADVSTEP_PREFIX_API HcclResult HcclCommDestroy(HcclComm comm);

/// Returns the number of ranks.
ADVSTEP_PREFIX_API HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize);
/// Returns the rank of this process in the communicator.
ADVSTEP_PREFIX_API HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);

/// Returns the name, which is the same on all ranks.
/// @param[out] commName  COMM_NAME_MAX_LENGTH bytes
ADVSTEP_PREFIX_API HcclResult HcclGetCommName(HcclComm comm, char* commName);

/// Returns a communicator of this process by its name.
/// @retval HCCL_E_NOT_FOUND  no communicator of this process has the name
ADVSTEP_PREFIX_API HcclResult HcclCommGetHandleWithName(const char* commName, HcclComm* comm);

/// Reports the first failure of the communicator, HCCL_SUCCESS if there is none. A rank whose
/// process has ended is HCCL_E_REMOTE, also while no operator runs. The message of the failure is
/// left for aclGetRecentErrMsg.
ADVSTEP_PREFIX_API HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError);

/// Returns the name of a code, such as "HCCL_E_PARA"; of an unknown one a text that says so.
ADVSTEP_PREFIX_API const char* HcclGetErrorString(HcclResult code);

/// Returns HCCL_COMM_CONFIG_RESERVED, the number of fields of HcclCommConfig that are known.
ADVSTEP_PREFIX_API uint32_t HcclGetCommConfigCapability(void);

/// Keeps a value of the process. Reductions are deterministic whatever it is.
/// @retval HCCL_E_PARA  config is not HCCL_DETERMINISTIC; the value is not in [0, 2]
ADVSTEP_PREFIX_API HcclResult HcclSetConfig(HcclConfig config, union HcclConfigValue configValue);

/// Returns what HcclSetConfig has kept, at first 0.
/// @retval HCCL_E_PARA  config is not HCCL_DETERMINISTIC
ADVSTEP_PREFIX_API HcclResult HcclGetConfig(HcclConfig config, union HcclConfigValue* configValue);

/// Holds the operators of the calling thread back until HcclGroupEnd. Groups may be nested. The
/// calls of operators check their arguments as usual.
ADVSTEP_PREFIX_API HcclResult HcclGroupStart(void);

/// Queues the operators of the group, also of several devices: sends and receives of a communicator
/// in a stream run at a time, as in HcclBatchSendRecv. The first failure ends this.
/// @retval HCCL_E_PARA     no group is open
/// @retval HCCL_E_RUNTIME  the context of an operator has ended
ADVSTEP_PREFIX_API HcclResult HcclGroupEnd(void);

/* ---- refused: each returns HCCL_E_NOT_SUPPORT, and a message that says why ----------------- */

/// Refused: a communicator that has failed cannot be repaired.
/// @retval HCCL_E_NOT_SUPPORT  always
ADVSTEP_PREFIX_API HcclResult HcclCommSuspend(HcclComm comm);
/// Refused, as HcclCommSuspend.
/// @retval HCCL_E_NOT_SUPPORT  always
ADVSTEP_PREFIX_API HcclResult HcclCommResume(HcclComm comm);
/// Refused: operators use any device memory without a copy.
/// @retval HCCL_E_NOT_SUPPORT  always
ADVSTEP_PREFIX_API HcclResult HcclCommSetMemoryRange(HcclComm comm, void* baseVirPtr, size_t size,
                                                     size_t alignment, uint64_t flags);
/// Refused, as HcclCommSetMemoryRange.
/// @retval HCCL_E_NOT_SUPPORT  always
ADVSTEP_PREFIX_API HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* baseVirPtr);
/// Refused, as HcclCommSetMemoryRange.
/// @retval HCCL_E_NOT_SUPPORT  always
ADVSTEP_PREFIX_API HcclResult HcclCommActivateCommMemory(HcclComm comm, void* virPtr, size_t size,
                                                         size_t offset, aclrtDrvMemHandle handle,
                                                         uint64_t flags);
/// Refused, as HcclCommSetMemoryRange.
/// @retval HCCL_E_NOT_SUPPORT  always
ADVSTEP_PREFIX_API HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* virPtr);
/// Refused: devices have no network cards of their own.
/// @retval HCCL_E_NOT_SUPPORT  always
ADVSTEP_PREFIX_API HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t* ranks,
                                                       bool* useBackup, uint32_t nRanks);
#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_HCCL_HCCL_COMM_H_ */
