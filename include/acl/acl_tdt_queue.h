// SPDX-License-Identifier: Apache-2.0
/// Queues of devices, with their buffers and routes, which this device refuses.
///
/// Every call here has no effect and looks at no argument: it returns
/// ACL_ERROR_RT_FEATURE_NOT_SUPPORT, or NULL or 0 if it returns no code, and aclGetRecentErrMsg()
/// says why. The values of the enumerations are unknown to this project, so they have no names.
#ifndef ADVSTEP_ACL_ACL_TDT_QUEUE_H_
#define ADVSTEP_ACL_ACL_TDT_QUEUE_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void* acltdtBuf;
typedef int32_t acltdtQueueAttrType;
typedef int32_t acltdtQueueRouteParamType;
typedef int32_t acltdtQueueRouteQueryInfoParamType;
typedef struct acltdtQueueAttr acltdtQueueAttr;
typedef struct acltdtQueueRoute acltdtQueueRoute;
typedef struct acltdtQueueRouteList acltdtQueueRouteList;
typedef struct acltdtQueueRouteQueryInfo acltdtQueueRouteQueryInfo;

ADVSTEP_API aclError acltdtAddQueueRoute(acltdtQueueRouteList* routeList,
                                         const acltdtQueueRoute* route);
ADVSTEP_API aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf* buf);
ADVSTEP_API aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf);
ADVSTEP_API aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t* permission);
ADVSTEP_API aclError acltdtBindQueueRoutes(acltdtQueueRouteList* qRouteList);
ADVSTEP_API aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf* newBuf);
ADVSTEP_API aclError acltdtCreateQueue(const acltdtQueueAttr* attr, uint32_t* qid);
ADVSTEP_API acltdtQueueAttr* acltdtCreateQueueAttr(void);
ADVSTEP_API acltdtQueueRoute* acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId);
ADVSTEP_API acltdtQueueRouteList* acltdtCreateQueueRouteList(void);
ADVSTEP_API acltdtQueueRouteQueryInfo* acltdtCreateQueueRouteQueryInfo(void);
ADVSTEP_API aclError acltdtDequeue(uint32_t qid, acltdtBuf* buf, int32_t timeout);
ADVSTEP_API aclError acltdtDequeueData(uint32_t qid, void* data, size_t dataSize,
                                       size_t* retDataSize, void* userData, size_t userDataSize,
                                       int32_t timeout);
ADVSTEP_API aclError acltdtDestroyQueue(uint32_t qid);
ADVSTEP_API aclError acltdtDestroyQueueAttr(const acltdtQueueAttr* attr);
ADVSTEP_API aclError acltdtDestroyQueueRoute(const acltdtQueueRoute* route);
ADVSTEP_API aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList* routeList);
ADVSTEP_API aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo* info);
ADVSTEP_API aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout);
ADVSTEP_API aclError acltdtEnqueueData(uint32_t qid, const void* data, size_t dataSize,
                                       const void* userData, size_t userDataSize, int32_t timeout,
                                       uint32_t rsv);
ADVSTEP_API aclError acltdtFreeBuf(acltdtBuf buf);
ADVSTEP_API aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t* num);
ADVSTEP_API aclError acltdtGetBufData(const acltdtBuf buf, void** dataPtr, size_t* size);
ADVSTEP_API aclError acltdtGetBufDataLen(acltdtBuf buf, size_t* len);
ADVSTEP_API aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index, acltdtBuf* buf);
ADVSTEP_API aclError acltdtGetBufUserData(const acltdtBuf buf, void* dataPtr, size_t size,
                                          size_t offset);
ADVSTEP_API aclError acltdtGetQueueAttr(const acltdtQueueAttr* attr, acltdtQueueAttrType type,
                                        size_t len, size_t* paramRetSize, void* param);
ADVSTEP_API aclError acltdtGetQueueRoute(const acltdtQueueRouteList* routeList, size_t index,
                                         acltdtQueueRoute* route);
ADVSTEP_API size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList* routeList);
ADVSTEP_API aclError acltdtGetQueueRouteParam(const acltdtQueueRoute* route,
                                              acltdtQueueRouteParamType type, size_t len,
                                              size_t* paramRetSize, void* param);
ADVSTEP_API aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission,
                                      int32_t timeout);
ADVSTEP_API aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo* queryInfo,
                                            acltdtQueueRouteList* qRouteList);
ADVSTEP_API aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len);
ADVSTEP_API aclError acltdtSetBufUserData(acltdtBuf buf, const void* dataPtr, size_t size,
                                          size_t offset);
ADVSTEP_API aclError acltdtSetQueueAttr(acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t len,
                                        const void* param);
ADVSTEP_API aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo* param,
                                                  acltdtQueueRouteQueryInfoParamType type,
                                                  size_t len, const void* value);
ADVSTEP_API aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList* qRouteList);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_ACL_TDT_QUEUE_H_ */
