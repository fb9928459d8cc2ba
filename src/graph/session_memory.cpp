// SPDX-License-Identifier: Apache-2.0
// Registers host memory with the runtime, and ends the registration.

#include "src/graph/session_memory.h"

#include <algorithm>
#include <cstring>

#include "src/graph/device.h"

namespace advstep::graph {

SessionMemory::SessionMemory(size_t bytes)
    : size_(std::max<size_t>(bytes, 1)), bytes_(MakeHostBytes(size_)) {
    std::memset(bytes_.get(), 0, size_);
}

SessionMemory::~SessionMemory() {
    const int32_t code = isRegistered_ ? aclrtHostUnregister(bytes_.get()) : ACL_SUCCESS;
    if (code != ACL_SUCCESS && code != ACL_ERROR_HOST_MEMORY_NOT_REGISTERED) {
        // A host function destroys the session. Work that is queued may still use the memory, which
        // therefore stays.
        static_cast<void>(bytes_.release());
    }
}

Outcome SessionMemory::Register() {
    aclrtPtrAttributes attributes{};
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckAcl("aclrtPointerGetAttributes",
                                           aclrtPointerGetAttributes(bytes_.get(), &attributes)));
    if (attributes.location.type != ACL_MEM_LOCATION_TYPE_UNREGISTERED) {
        return {};
    }
    void* device = nullptr;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(
        CheckAcl("aclrtHostRegister",
                 aclrtHostRegister(bytes_.get(), size_, ACL_HOST_REGISTER_MAPPED, &device)));
    isRegistered_ = true;
    return {};
}

}  // namespace advstep::graph
