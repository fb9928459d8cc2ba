// SPDX-License-Identifier: Apache-2.0
/// Operators of HCCL: collectives, sends and receives.
///
/// libadvance_step does not have these functions. libhccl.so of the install prefix that is laid out
/// like CANN's has them (docs/hccl.md).
///
/// An operator is work of the stream, and the call returns before it has run. A capture records it,
/// and each replay runs it. Every rank queues the operators of a communicator in the same order.
/// Reductions apply the ranks' values in the order of the ranks, so that the results have the same
/// bits for any timing, on every rank; each step is rounded to the data type.
///
/// Counts are numbers of elements. Buffers are device memory, each inside one allocation. One that
/// is sent and one that is received must not overlap, except where it says "in place".
///
/// An operator that fails stops the stream as a kernel does: a synchronisation returns
/// ACL_ERROR_RT_INTERNAL_ERROR with the message `<call>: <HcclResult>: ...`, and the communicator
/// is of no more use. HcclGetCommAsyncError returns the HcclResult:
///   - HCCL_E_REMOTE: the process of a rank has ended, or the rank has failed; the message names it
///   - HCCL_E_TIMEOUT: ranks have not done their part in HCCL_EXEC_TIMEOUT seconds; they are named
///   - HCCL_E_PARA: another rank has queued another operator, or other counts
///   - HCCL_E_SUSPENDING: the work of the device was aborted, or the stream was
///
/// Each call returns, besides the codes in hccl_comm.h:
///   - HCCL_E_PTR: a buffer is NULL and its count is not 0; stream or a list is NULL
///   - HCCL_E_PARA: the data type, op or a rank is outside; a count is too large; a buffer is not
///     inside one allocation of device memory; the current device is not the communicator's
///   - HCCL_E_NOT_SUPPORT: the operator does not take the data type
///   - HCCL_E_RUNTIME: the stream is none, or of another context; the thread has no current device
///   - the first failure of the communicator, if it has failed
#ifndef ADVSTEP_HCCL_HCCL_H_
#define ADVSTEP_HCCL_HCCL_H_

#include "acl/acl_rt.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// recvBuf = op of the sendBufs of all ranks. In place: sendBuf and recvBuf may be the same.
ADVSTEP_PREFIX_API HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count,
                                            HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                            aclrtStream stream);

/// buf of root goes to buf of the others.
ADVSTEP_PREFIX_API HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType,
                                            uint32_t root, HcclComm comm, aclrtStream stream);

/// Rank r gets op of the r-th parts of all sendBufs, which have recvCount elements for each rank.
/// In place: recvBuf may be the rank's own part of sendBuf.
ADVSTEP_PREFIX_API HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                                                HcclDataType dataType, HcclReduceOp op,
                                                HcclComm comm, aclrtStream stream);

/// The same with parts of sendCounts[r] elements at sendDispls[r]; recvCount is sendCounts of the
/// rank. Not for uint64 and float64.
ADVSTEP_PREFIX_API HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts,
                                                 const void* sendDispls, void* recvBuf,
                                                 uint64_t recvCount, HcclDataType dataType,
                                                 HcclReduceOp op, HcclComm comm,
                                                 aclrtStream stream);

/// recvBuf gets the sendBufs of all ranks, in the order of the ranks. In place: sendBuf may be the
/// rank's own part of recvBuf.
ADVSTEP_PREFIX_API HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount,
                                            HcclDataType dataType, HcclComm comm,
                                            aclrtStream stream);

/// The same with parts of recvCounts[r] elements at recvDispls[r]; sendCount is recvCounts of the
/// rank.
ADVSTEP_PREFIX_API HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf,
                                             const void* recvCounts, const void* recvDispls,
                                             HcclDataType dataType, HcclComm comm,
                                             aclrtStream stream);

/// recvBuf of root = op of all sendBufs. The others do not use recvBuf. In place: sendBuf and
/// recvBuf may be the same.
ADVSTEP_PREFIX_API HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count,
                                         HcclDataType dataType, HcclReduceOp op, uint32_t root,
                                         HcclComm comm, aclrtStream stream);

/// Rank r gets the r-th part of sendBuf of root, recvCount elements. The others do not use sendBuf.
/// In place: recvBuf of root may be its own part of sendBuf.
ADVSTEP_PREFIX_API HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                                          HcclDataType dataType, uint32_t root, HcclComm comm,
                                          aclrtStream stream);

/// Every rank sends a part of sendCount elements to each rank, and gets one of recvCount elements
/// of each; both are as many bytes.
ADVSTEP_PREFIX_API HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount,
                                           HcclDataType sendType, const void* recvBuf,
                                           uint64_t recvCount, HcclDataType recvType, HcclComm comm,
                                           aclrtStream stream);

/// The same with lists (uint64_t, of host memory) of the counts and of where each part begins. They
/// are read during the call.
ADVSTEP_PREFIX_API HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts,
                                            const void* sdispls, HcclDataType sendType,
                                            const void* recvBuf, const void* recvCounts,
                                            const void* rdispls, HcclDataType recvType,
                                            HcclComm comm, aclrtStream stream);

/// The same with parts one behind another, and one matrix of counts for all ranks: row by row what
/// each rank sends to each.
ADVSTEP_PREFIX_API HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix,
                                             HcclDataType sendType, const void* recvBuf,
                                             HcclDataType recvType, HcclComm comm,
                                             aclrtStream stream);

/// Ends when the bytes are on their way; the next HcclRecv of destRank from this rank gets them.
/// @retval HCCL_E_PARA  destRank is also the rank itself
ADVSTEP_PREFIX_API HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType,
                                       uint32_t destRank, HcclComm comm, aclrtStream stream);

/// Gets the next HcclSend of srcRank to this rank.
/// @retval HCCL_E_PARA  srcRank is also the rank itself
ADVSTEP_PREFIX_API HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType,
                                       uint32_t srcRank, HcclComm comm, aclrtStream stream);

/// Several sends and receives at a time, in any order among different ranks. A rank may send to
/// itself what it receives in the same call.
ADVSTEP_PREFIX_API HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum,
                                                HcclComm comm, aclrtStream stream);

/// Ends when it has begun on every rank.
ADVSTEP_PREFIX_API HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_HCCL_HCCL_H_ */
