// SPDX-License-Identifier: Apache-2.0
// Implements the device context of a run and its device memory.

#include "src/graph/run/device.h"

#include <array>
#include <atomic>

#include "src/advstep/held_block.h"

namespace advstep::graph {
namespace {

// The aborts of each device, by its number. The callback counts an abort when launches are refused
// and nothing has been dropped yet.
std::array<std::atomic<uint64_t>, 1024> abortsOf{};

std::atomic<uint64_t>& AbortsOf(int32_t deviceId) {
    return abortsOf[static_cast<uint32_t>(deviceId) % abortsOf.size()];
}

int32_t CountAbort(int32_t deviceId, aclrtDeviceTaskAbortStage stage, uint32_t, void*) {
    if (stage == ACL_RT_DEVICE_TASK_ABORT_PRE) {
        AbortsOf(deviceId).fetch_add(1);
    }
    return 0;
}

}  // namespace

Outcome CheckAcl(const char* call, int32_t code) {
    if (code == ACL_SUCCESS) {
        return {};
    }
    return Fail(kInnerError, "{} returned {}: {}", call, code, TakeAclMessage(code));
}

std::string TakeAclMessage(int32_t code) {
    const char* message = aclGetRecentErrMsg();
    return message == nullptr ? fmt::format("code {}", code) : message;
}

Outcome FindCapture(aclrtStream stream, aclmdlRICaptureStatus* status) {
    *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    if (stream == nullptr) {
        aclrtContext context = nullptr;
        return CheckAcl("aclrtGetCurrentContext", aclrtGetCurrentContext(&context));
    }
    return CheckAcl("aclmdlRICaptureGetInfo", aclmdlRICaptureGetInfo(stream, status, nullptr));
}

DeviceContext::~DeviceContext() {
    if (context_ != nullptr) {
        aclrtDestroyContext(context_);
        aclmdlRICaptureThreadExchangeMode(&mode_);
    }
}

Outcome DeviceContext::Open(std::optional<int32_t> deviceId) {
    uint32_t count = 0;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckAcl("aclrtGetDeviceCount", aclrtGetDeviceCount(&count)));
    const bool exists = deviceId && *deviceId >= 0 && static_cast<uint32_t>(*deviceId) < count;
    deviceId_ = exists ? *deviceId : 0;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(
        CheckAcl("aclrtCreateContext", aclrtCreateContext(&context_, deviceId_)));
    // Set anew for each run, because the end of the runtime removes it.
    ADVSTEP_GRAPH_RETURN_IF_ERROR(
        CheckAcl("aclrtSetDeviceTaskAbortCallback",
                 aclrtSetDeviceTaskAbortCallback("advance_step graph mode", &CountAbort, nullptr)));
    return CheckAcl("aclmdlRICaptureThreadExchangeMode", aclmdlRICaptureThreadExchangeMode(&mode_));
}

uint64_t DeviceContext::aborts() const { return AbortsOf(deviceId_).load(); }

SavedContext::SavedContext() {
    if (aclrtGetCurrentContext(&context_) != ACL_SUCCESS) {
        context_ = nullptr;
        // To have no context is no failure of the run.
        (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
        (void)aclGetRecentErrMsg();
    }
}

SavedContext::~SavedContext() {
    if (context_ != nullptr) {
        (void)aclrtSetCurrentContext(context_);
    }
}

DeviceMemory::~DeviceMemory() {
    if (address_ != nullptr) {
        aclrtFree(address_);
    }
    advstepEndHold(hold_);
}

Outcome DeviceMemory::Allocate(size_t bytes) {
    // aclrtMalloc refuses 0 bytes, and a tensor without elements still needs an address.
    ADVSTEP_GRAPH_RETURN_IF_ERROR(
        CheckAcl("aclrtMalloc", advstepAllocateHeld(bytes == 0 ? 1 : bytes, &address_, &hold_)));
    bytes_ = bytes;
    return {};
}

Outcome DeviceMemory::Upload(const void* from) const {
    return bytes_ == 0 ? Outcome()
                       : CheckAcl("aclrtMemcpy", aclrtMemcpy(address_, bytes_, from, bytes_,
                                                             ACL_MEMCPY_HOST_TO_DEVICE));
}

Outcome DeviceMemory::Download(void* to) const {
    return bytes_ == 0 ? Outcome()
                       : CheckAcl("aclrtMemcpy", aclrtMemcpy(to, bytes_, address_, bytes_,
                                                             ACL_MEMCPY_DEVICE_TO_HOST));
}

Outcome DeviceMemory::CopyFrom(const DeviceMemory& other) const {
    return bytes_ == 0 ? Outcome()
                       : CheckAcl("aclrtMemcpy", aclrtMemcpy(address_, bytes_, other.address_,
                                                             bytes_, ACL_MEMCPY_DEVICE_TO_DEVICE));
}

TensorHandle MakeTensor(const ValueDesc& desc, void* address) {
    // The data types of graph mode have the numbers of aclDataType.
    return TensorHandle(
        aclCreateTensor(desc.dims.data(), desc.dims.size(), static_cast<aclDataType>(desc.dataType),
                        nullptr, 0, ACL_FORMAT_ND, desc.dims.data(), desc.dims.size(), address));
}

}  // namespace advstep::graph
