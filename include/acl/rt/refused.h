// SPDX-License-Identifier: Apache-2.0
/// Calls of the runtime that this device refuses.
///
/// Every call here has no effect and looks at no argument: it returns
/// ACL_ERROR_RT_FEATURE_NOT_SUPPORT, or NULL or 0 if it returns no code, and aclGetRecentErrMsg()
/// says why. The values of the enumerations are unknown to this project, so they have no names.
///
/// The library also exports those calls of the same kinds that take a callback, or a struct by
/// value, whose parameters or members are unknown. No header declares them.
#ifndef ADVSTEP_ACL_RT_REFUSED_H_
#define ADVSTEP_ACL_RT_REFUSED_H_

#include "acl/rt/kernel_launch.h"
#include "acl/rt/options.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void* aclrtMbuf;
typedef void* aclrtCntNotify;
typedef void* aclrtLabel;
typedef void* aclrtLabelList;
typedef void* aclmdlRITask;
typedef int32_t aclmdlRITaskType;
typedef int32_t aclrtAtomicOperation;
typedef int32_t aclrtCompareDataType;
typedef int32_t aclrtCondition;
typedef int32_t aclrtDevFeatureType;
typedef int32_t aclrtDeviceLimit;
typedef int32_t aclrtGroupAttr;
typedef int32_t aclrtIpcMemAttrType;
typedef int32_t aclrtMemLinkType;
typedef int32_t aclrtMemManagedRangeAttribute;
typedef int32_t aclrtTsId;
typedef struct aclmdlRITaskParams aclmdlRITaskParams;
typedef struct aclrtBarrierTaskInfo aclrtBarrierTaskInfo;
typedef struct aclrtCntNotifyRecordInfo aclrtCntNotifyRecordInfo;
typedef struct aclrtCntNotifyWaitInfo aclrtCntNotifyWaitInfo;
typedef struct aclrtGroupInfo aclrtGroupInfo;
typedef struct aclrtMemManagedLocation aclrtMemManagedLocation;
typedef struct aclrtRandomNumTaskInfo aclrtRandomNumTaskInfo;
typedef struct aclrtServerPid aclrtServerPid;
typedef struct aclrtSnapShotBackupArgs aclrtSnapShotBackupArgs;
typedef struct aclrtSnapShotRestoreArgs aclrtSnapShotRestoreArgs;
typedef struct aclrtTaskUpdateInfo aclrtTaskUpdateInfo;

/* ---- buffers of queues ------------------------------------------------------------------ */

ADVSTEP_API aclError aclrtAllocBuf(aclrtMbuf* buf, size_t size);
ADVSTEP_API aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf);
ADVSTEP_API aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf* newBuf);
ADVSTEP_API aclError aclrtFreeBuf(aclrtMbuf buf);
ADVSTEP_API aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t* num);
ADVSTEP_API aclError aclrtGetBufData(const aclrtMbuf buf, void** dataPtr, size_t* size);
ADVSTEP_API aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t* len);
ADVSTEP_API aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t index, aclrtMbuf* buf);
ADVSTEP_API aclError aclrtGetBufUserData(const aclrtMbuf buf, void* dataPtr, size_t size,
                                         size_t offset);
ADVSTEP_API aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len);
ADVSTEP_API aclError aclrtSetBufUserData(aclrtMbuf buf, const void* dataPtr, size_t size,
                                         size_t offset);

/* ---- managed memory --------------------------------------------------------------------- */

ADVSTEP_API aclError aclrtMemAllocManaged(void** ptr, uint64_t size, uint32_t flag);
ADVSTEP_API aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute,
                                            const void* ptr, size_t size, void* data,
                                            size_t dataSize);
ADVSTEP_API aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute* attributes,
                                             size_t numAttributes, const void* ptr, size_t size,
                                             void** data, size_t* dataSizes);
ADVSTEP_API aclError aclrtMemManagedPrefetchBatchAsync(
    const void** ptrs, size_t* sizes, size_t count, aclrtMemManagedLocation* prefetchLocs,
    size_t* prefetchLocIdxs, size_t numPrefetchLocs, uint64_t flags, aclrtStream stream);

/* ---- notifies that count ---------------------------------------------------------------- */

ADVSTEP_API aclError aclrtCntNotifyCreate(aclrtCntNotify* cntNotify, uint64_t flag);
ADVSTEP_API aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify);
ADVSTEP_API aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t* notifyId);
ADVSTEP_API aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream,
                                          aclrtCntNotifyRecordInfo* info);
ADVSTEP_API aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream);
ADVSTEP_API aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream,
                                                   aclrtCntNotifyWaitInfo* info);

/* ---- models that are built of streams --------------------------------------------------- */

ADVSTEP_API aclError aclmdlRIBuildBegin(aclmdlRI* modelRI, uint32_t flag);
ADVSTEP_API aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag);
ADVSTEP_API aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream);
ADVSTEP_API aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream);
ADVSTEP_API aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void* reserve);
ADVSTEP_API aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream);
ADVSTEP_API aclError aclrtSwitchStream(void* leftValue, aclrtCondition cond, void* rightValue,
                                       aclrtCompareDataType dataType, aclrtStream trueStream,
                                       aclrtStream falseStream, aclrtStream stream);
ADVSTEP_API aclError aclrtCreateLabel(aclrtLabel* label);
ADVSTEP_API aclError aclrtDestroyLabel(aclrtLabel label);
ADVSTEP_API aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream);
ADVSTEP_API aclError aclrtCreateLabelList(aclrtLabel* labels, size_t num,
                                          aclrtLabelList* labelList);
ADVSTEP_API aclError aclrtDestroyLabelList(aclrtLabelList labelList);
ADVSTEP_API aclError aclrtSwitchLabelByIndex(void* ptr, uint32_t maxValue, aclrtLabelList labelList,
                                             aclrtStream stream);
ADVSTEP_API aclError aclrtPersistentTaskClean(aclrtStream stream);
ADVSTEP_API aclError aclrtTaskUpdateAsync(aclrtStream taskStream, uint32_t taskId,
                                          aclrtTaskUpdateInfo* info, aclrtStream execStream);

/* ---- tasks of models -------------------------------------------------------------------- */

ADVSTEP_API aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream* streams,
                                        uint32_t* numStreams);
ADVSTEP_API aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask* tasks,
                                              uint32_t* numTasks);
ADVSTEP_API aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task,
                                                    aclrtLaunchKernelAttrId attrId,
                                                    aclrtLaunchKernelAttrValue* attrValue);
ADVSTEP_API aclError aclmdlRITaskDisable(aclmdlRITask task);
ADVSTEP_API aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams* params);
ADVSTEP_API aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t* id);
ADVSTEP_API aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType* type);
ADVSTEP_API aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams* params);
ADVSTEP_API aclError aclmdlRIUpdate(aclmdlRI modelRI);

/* ---- device code and its variables ------------------------------------------------------ */

ADVSTEP_API aclError aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle, void** binAddr,
                                              size_t* binSize);
ADVSTEP_API aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char* name, void** dptr,
                                          size_t* size);
ADVSTEP_API aclError aclrtGetFuncBySymbol(const void* symbol, aclrtFuncHandle* funcHandle);
ADVSTEP_API aclError aclrtFunctionGetParamCount(const void* func, size_t* paramCount);
ADVSTEP_API aclError aclrtFunctionGetParamInfo(const void* func, size_t paramIndex,
                                               size_t* paramOffset, size_t* paramSize);
ADVSTEP_API aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t* aicSize,
                                          size_t* aivSize);
ADVSTEP_API aclError aclrtFunctionGetAvailDynUbufPerBlock(void* func, uint32_t flags,
                                                          size_t* dynamicUbufSize);
ADVSTEP_API aclError aclrtLaunchKernelWithArgsArray(void* func, uint32_t numBlocks,
                                                    aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                                    void** args);
ADVSTEP_API aclError aclrtGetSymbolAddress(const void* symbol, void** devPtr);
ADVSTEP_API aclError aclrtGetSymbolSize(const void* symbol, size_t* size);
ADVSTEP_API aclError aclrtMemcpyToSymbol(const void* symbol, const void* src, size_t count,
                                         size_t offset, aclrtMemcpyKind kind);
ADVSTEP_API aclError aclrtMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count,
                                              size_t offset, aclrtMemcpyKind kind,
                                              aclrtStream stream);
ADVSTEP_API aclError aclrtMemcpyFromSymbol(void* dst, size_t dstMax, const void* symbol,
                                           size_t count, size_t offset, aclrtMemcpyKind kind);
ADVSTEP_API aclError aclrtMemcpyFromSymbolAsync(void* dst, size_t dstMax, const void* symbol,
                                                size_t count, size_t offset, aclrtMemcpyKind kind,
                                                aclrtStream stream);

/* ---- groups of cores -------------------------------------------------------------------- */

ADVSTEP_API aclrtGroupInfo* aclrtCreateGroupInfo(void);
ADVSTEP_API aclError aclrtDestroyGroupInfo(aclrtGroupInfo* groupInfo);
ADVSTEP_API aclError aclrtGetGroupCount(uint32_t* count);
ADVSTEP_API aclError aclrtGetAllGroupInfo(aclrtGroupInfo* groupInfo);
ADVSTEP_API aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo* groupInfo, int32_t groupIndex,
                                             aclrtGroupAttr attr, void* attrValue, size_t valueLen,
                                             size_t* paramRetSize);
ADVSTEP_API aclError aclrtSetGroup(int32_t groupId);
ADVSTEP_API aclError aclrtSetTsDevice(aclrtTsId tsId);

/* ---- properties of the hardware --------------------------------------------------------- */

ADVSTEP_API aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType,
                                              int32_t* value);
ADVSTEP_API aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t* value);
ADVSTEP_API aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value);
ADVSTEP_API aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId,
                                         uint64_t* value);
ADVSTEP_API aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t* capabilities,
                                                          const aclrtAtomicOperation* operations,
                                                          const uint32_t count, int32_t deviceId);
ADVSTEP_API aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t* capabilities,
                                                         const aclrtAtomicOperation* operations,
                                                         const uint32_t count, int32_t srcDeviceId,
                                                         int32_t dstDeviceId);
ADVSTEP_API aclError aclrtCheckMemType(void** addrList, uint32_t size, uint32_t memType,
                                       uint32_t* checkResult, uint32_t reserve);
ADVSTEP_API aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink);
ADVSTEP_API aclError aclrtMemMapSelectedLink(void* virPtrDst, size_t size, void* virPtrSrc,
                                             uint32_t linkIdx);
ADVSTEP_API aclError aclrtGetHardwareSyncAddr(void** addr);
ADVSTEP_API aclError aclrtCtxGetFloatOverflowAddr(void** overflowAddr);
ADVSTEP_API aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo* taskInfo,
                                         const aclrtStream stream, void* reserve);
ADVSTEP_API aclError aclrtCmoAsyncWithBarrier(void* src, size_t size, aclrtCmoType cmoType,
                                              uint32_t barrierId, aclrtStream stream);
ADVSTEP_API aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo* taskInfo, aclrtStream stream,
                                         uint32_t flag);

/* ---- details of tasks -------------------------------------------------------------------- */

ADVSTEP_API aclError aclrtGetThreadLastTaskId(uint32_t* taskId);
ADVSTEP_API aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo* info,
                                                   void** devArgsPtr, uint32_t* devArgsLen);
ADVSTEP_API aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo* info,
                                                         aclrtFuncHandle* func);

/* ---- descriptors of copies and cache operations ------------------------------------------ */

ADVSTEP_API aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t* descSize);
ADVSTEP_API aclError aclrtSetMemcpyDesc(void* desc, aclrtMemcpyKind kind, void* srcAddr,
                                        void* dstAddr, size_t count, void* config);
ADVSTEP_API aclError aclrtMemcpyAsyncWithDesc(void* desc, aclrtMemcpyKind kind, aclrtStream stream);
ADVSTEP_API aclError aclrtCmoGetDescSize(size_t* size);
ADVSTEP_API aclError aclrtCmoSetDesc(void* cmoDesc, void* src, size_t size);
ADVSTEP_API aclError aclrtCmoAsyncWithDesc(void* cmoDesc, aclrtCmoType cmoType, aclrtStream stream,
                                           const void* reserve);

/* ---- the end of a running model, mappings without access --------------------------------- */

ADVSTEP_API aclError aclmdlRIAbort(aclmdlRI modelRI);
ADVSTEP_API aclError aclrtMemMapNoAccess(void* virPtr, size_t size, size_t offset,
                                         aclrtDrvMemHandle handle, uint64_t flags);

/* ---- other servers ---------------------------------------------------------------------- */

ADVSTEP_API aclError aclrtIpcMemSetAttr(const char* key, aclrtIpcMemAttrType type, uint64_t attr);
ADVSTEP_API aclError aclrtIpcMemImportPidInterServer(const char* key, aclrtServerPid* serverPids,
                                                     size_t num);
ADVSTEP_API aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify,
                                                        aclrtServerPid* serverPids, size_t num);

/* ---- snapshots of processes ------------------------------------------------------------- */

ADVSTEP_API aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs* args);
ADVSTEP_API aclError aclrtSnapShotProcessLock(int pid, void* reserve);
ADVSTEP_API aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs* args);
ADVSTEP_API aclError aclrtSnapShotProcessUnlock(int pid, void* reserve);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_RT_REFUSED_H_ */
