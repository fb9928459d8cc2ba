// SPDX-License-Identifier: Apache-2.0
/// Data buffers: each is an address and a size, and owns no memory.
#ifndef ADVSTEP_ACL_BASE_DATA_BUFFER_H_
#define ADVSTEP_ACL_BASE_DATA_BUFFER_H_

#include "acl/base/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An address and a size in bytes. It owns no memory, and destroying it frees none.
typedef struct aclDataBuffer aclDataBuffer;

/// Creates a data buffer.
/// @param[in] data  any address; may be NULL
/// @param[in] size  bytes at data; any value
/// @return NULL if the host is out of memory
ADVSTEP_API aclDataBuffer* aclCreateDataBuffer(void* data, size_t size);

/// Destroys a data buffer, but not the memory at its address.
/// @retval ACL_ERROR_INVALID_PARAM  dataBuffer is NULL
ADVSTEP_API aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer);

/// Replaces the address and the size.
/// @param[in] data  any address; may be NULL
/// @param[in] size  bytes at data; any value
/// @retval ACL_ERROR_INVALID_PARAM  dataBuffer is NULL
ADVSTEP_API aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size);

/// Returns the address; NULL for a NULL data buffer.
ADVSTEP_API void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer);

/// Returns the size in bytes; 0 for a NULL data buffer.
ADVSTEP_API size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer);

/// Returns the low 32 bits of what aclGetDataBufferSizeV2 returns.
ADVSTEP_API uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_BASE_DATA_BUFFER_H_ */
