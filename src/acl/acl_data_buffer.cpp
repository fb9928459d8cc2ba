// SPDX-License-Identifier: Apache-2.0
// Data buffers: an address and a size.
#include <utility>

#include "acl/acl_base.h"
#include "src/base/boundary.h"

using namespace advstep;

struct aclDataBuffer {
    void* data;
    size_t size;
};

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
    aclDataBuffer* made = nullptr;
    (void)AclBoundary("aclCreateDataBuffer", [&]() -> Status {
        made = new aclDataBuffer{data, size};
        return {};
    });
    return made;
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
    return AclBoundary("aclDestroyDataBuffer", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(dataBuffer, "dataBuffer"));
        delete dataBuffer;
        return {};
    });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
    return AclBoundary("aclUpdateDataBuffer", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(dataBuffer, "dataBuffer"));
        *dataBuffer = {data, size};
        return {};
    });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
    return dataBuffer != nullptr ? dataBuffer->data : nullptr;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
    return dataBuffer != nullptr ? dataBuffer->size : 0;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
    return static_cast<uint32_t>(aclGetDataBufferSizeV2(dataBuffer));
}
