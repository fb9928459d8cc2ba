// SPDX-License-Identifier: Apache-2.0
/// Data channels between host and device, which this device refuses.
///
/// Every call here has no effect and looks at no argument: it returns
/// ACL_ERROR_RT_FEATURE_NOT_SUPPORT, or NULL or 0 if it returns no code, and aclGetRecentErrMsg()
/// says why. The values of the enumerations are unknown to this project, so they have no names.
#ifndef ADVSTEP_ACL_ACL_TDT_H_
#define ADVSTEP_ACL_ACL_TDT_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t acltdtTensorType;
typedef struct acltdtDataItem acltdtDataItem;
typedef struct acltdtDataset acltdtDataset;
typedef struct acltdtChannelHandle acltdtChannelHandle;

ADVSTEP_API aclError acltdtAddDataItem(acltdtDataset* dataset, acltdtDataItem* dataItem);
ADVSTEP_API aclError acltdtCleanChannel(acltdtChannelHandle* handle);
ADVSTEP_API acltdtChannelHandle* acltdtCreateChannel(uint32_t deviceId, const char* name);
ADVSTEP_API acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t deviceId,
                                                                 const char* name, size_t capacity);
ADVSTEP_API acltdtDataItem* acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t* dims,
                                                 size_t dimNum, aclDataType dataType, void* data,
                                                 size_t size);
ADVSTEP_API acltdtDataset* acltdtCreateDataset(void);
ADVSTEP_API aclError acltdtDestroyChannel(acltdtChannelHandle* handle);
ADVSTEP_API aclError acltdtDestroyDataItem(acltdtDataItem* dataItem);
ADVSTEP_API aclError acltdtDestroyDataset(acltdtDataset* dataset);
ADVSTEP_API void* acltdtGetDataAddrFromItem(const acltdtDataItem* dataItem);
ADVSTEP_API acltdtDataItem* acltdtGetDataItem(const acltdtDataset* dataset, size_t index);
ADVSTEP_API size_t acltdtGetDataSizeFromItem(const acltdtDataItem* dataItem);
ADVSTEP_API aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem* dataItem);
ADVSTEP_API const char* acltdtGetDatasetName(const acltdtDataset* dataset);
ADVSTEP_API size_t acltdtGetDatasetSize(const acltdtDataset* dataset);
ADVSTEP_API size_t acltdtGetDimNumFromItem(const acltdtDataItem* dataItem);
ADVSTEP_API aclError acltdtGetDimsFromItem(const acltdtDataItem* dataItem, int64_t* dims,
                                           size_t dimNum);
ADVSTEP_API aclError acltdtGetSliceInfoFromItem(const acltdtDataItem* dataItem, size_t* sliceNum,
                                                size_t* sliceId);
ADVSTEP_API acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem* dataItem);
ADVSTEP_API aclError acltdtQueryChannelSize(const acltdtChannelHandle* handle, size_t* size);
ADVSTEP_API aclError acltdtReceiveTensor(const acltdtChannelHandle* handle, acltdtDataset* dataset,
                                         int32_t timeout);
ADVSTEP_API aclError acltdtSendTensor(const acltdtChannelHandle* handle,
                                      const acltdtDataset* dataset, int32_t timeout);
ADVSTEP_API aclError acltdtStopChannel(acltdtChannelHandle* handle);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_ACL_TDT_H_ */
