// SPDX-License-Identifier: Apache-2.0
// Allocates, frees and exports blocks.

#include "src/adxl/shared_blocks.h"

#include "src/base/never_destroyed.h"

namespace advstep::transfer {
namespace {

constexpr size_t kGranularity = 2 * 1024 * 1024;  // of physical memory

Outcome AclFailure(const char* call, aclError code) {
    const char* const message = aclGetRecentErrMsg();
    return Fail(adxl::FAILED, "{} returns {}: {}", call, code,
                message != nullptr ? message : "no message");
}

Outcome AllocateOnDevice(size_t bytes, void** block, aclrtDrvMemHandle* handle) {
    aclrtPhysicalMemProp prop{};
    prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    int32_t device = 0;
    if (const aclError code = aclrtGetDevice(&device); code != ACL_SUCCESS) {
        return AclFailure("aclrtGetDevice", code);
    }
    prop.location.id = static_cast<uint32_t>(device);
    if (const aclError code = aclrtMallocPhysical(handle, bytes, &prop, 0); code != ACL_SUCCESS) {
        return AclFailure("aclrtMallocPhysical", code);
    }
    aclError code = aclrtReserveMemAddress(block, bytes, 0, nullptr, 1);
    if (code == ACL_SUCCESS) {
        code = aclrtMapMem(*block, bytes, 0, *handle, 0);
        if (code == ACL_SUCCESS) {
            return {};
        }
        Outcome failure = AclFailure("aclrtMapMem", code);
        (void)aclrtReleaseMemAddress(*block);
        (void)aclrtFreePhysical(*handle);
        return failure;
    }
    Outcome failure = AclFailure("aclrtReserveMemAddress", code);
    (void)aclrtFreePhysical(*handle);
    return failure;
}

Outcome NoBlock(void* block) {
    return Fail(adxl::PARAM_INVALID, "ptr is {}; expected memory of MallocMem", block);
}

}  // namespace

Outcome SharedBlocks::Allocate(adxl::MemType type, size_t bytes, void** block) {
    if (type != adxl::MEM_DEVICE && type != adxl::MEM_HOST) {
        return Fail(adxl::PARAM_INVALID, "type is {}; expected MEM_DEVICE or MEM_HOST",
                    static_cast<int>(type));
    }
    if (block == nullptr) {
        return Fail(adxl::PARAM_INVALID, "ptr is null; expected a pointer");
    }
    if (bytes == 0 || bytes > SIZE_MAX - kGranularity) {
        return Fail(adxl::PARAM_INVALID,
                    "size is {}; expected at least 1, and a size that a host "
                    "can have",
                    bytes);
    }
    void* made = nullptr;
    aclrtDrvMemHandle handle = nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (type == adxl::MEM_DEVICE) {
        const size_t whole = (bytes + kGranularity - 1) / kGranularity * kGranularity;
        ADVSTEP_TRANSFER_RETURN_IF_ERROR(AllocateOnDevice(whole, &made, &handle));
    } else if (const aclError code = aclrtMallocHost(&made, bytes); code != ACL_SUCCESS) {
        return AclFailure("aclrtMallocHost", code);
    }
    blocks_[made] = handle;
    *block = made;
    return {};
}

Outcome SharedBlocks::Free(void* block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = blocks_.find(block);
    if (found == blocks_.end()) {
        return NoBlock(block);
    }
    const aclrtDrvMemHandle handle = found->second;
    blocks_.erase(found);
    if (handle == nullptr) {
        const aclError code = aclrtFreeHost(block);
        return code == ACL_SUCCESS ? Outcome() : AclFailure("aclrtFreeHost", code);
    }
    aclError code = aclrtUnmapMem(block);
    if (code != ACL_SUCCESS) {
        return AclFailure("aclrtUnmapMem", code);
    }
    code = aclrtReleaseMemAddress(block);
    if (code == ACL_SUCCESS) {
        code = aclrtFreePhysical(handle);
    }
    return code == ACL_SUCCESS ? Outcome() : AclFailure("aclrtFreePhysical", code);
}

Outcome SharedBlocks::Export(void* block, aclrtMemFabricHandle* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = blocks_.find(block);
    if (found == blocks_.end() || found->second == nullptr) {
        return Fail(adxl::PARAM_INVALID, "ptr is {}; expected memory of MallocMem with MEM_DEVICE",
                    block);
    }
    const aclError code = aclrtMemExportToShareableHandleV2(
        found->second, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION,
        ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, handle);
    return code == ACL_SUCCESS ? Outcome() : AclFailure("aclrtMemExportToShareableHandleV2", code);
}

SharedBlocks& TheSharedBlocks() {
    static NeverDestroyed<SharedBlocks> blocks;
    return *blocks;
}

}  // namespace advstep::transfer
