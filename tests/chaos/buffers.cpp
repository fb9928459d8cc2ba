// SPDX-License-Identifier: Apache-2.0
// Registers and unregisters the buffers of an action.
#include "chaos/buffers.h"

#include <utility>

namespace chaos {

void* Buffers::Add(const void* bytes, size_t size) {
    Worker& worker = *worker_;
    const char* const first = static_cast<const char*>(bytes);
    buffers_.emplace_back(first, first + size);
    void* mapped = nullptr;
    if (registered_ + 1 != buffers_.size() ||
        CHAOS_CALL(aclrtHostRegister, buffers_.back().data(), size, ACL_HOST_REGISTER_MAPPED,
                   &mapped) != 0) {
        return nullptr;
    }
    ++registered_;
    return mapped;
}

bool Buffers::Release() {
    if (released_) {
        return readable_;
    }
    released_ = true;
    Worker& worker = *worker_;
    readable_ = true;
    for (size_t i = 0; i < registered_; ++i) {
        if (CHAOS_CALL(aclrtHostUnregister, buffers_[i].data()) != 0) {
            readable_ = false;
        }
    }
    if (!readable_) {
        for (Bytes& buffer : buffers_) {
            worker_->Keep(std::move(buffer));
        }
    }
    return readable_;
}

}  // namespace chaos
