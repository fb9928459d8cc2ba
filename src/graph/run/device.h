// SPDX-License-Identifier: Apache-2.0
// The device of a run: context, memory, and acl codes as outcomes.

#pragma once

#include <memory>
#include <optional>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "src/graph/ir/outcome.h"
#include "src/graph/ir/tensor.h"

namespace advstep::graph {

/// Returns success for ACL_SUCCESS, or a failure with the message of the call.
Outcome CheckAcl(const char* call, int32_t code);

/// Returns the text of aclGetRecentErrMsg, or the code if there is no message.
std::string TakeAclMessage(int32_t code);

/// Finds out whether the stream of the current context is in a capture. The default stream, null,
/// never is.
Outcome FindCapture(aclrtStream stream, aclmdlRICaptureStatus* status);

/// A new context, current in this thread. Its default stream runs the operators. Each run has one,
/// so that a program may reset the device between runs. Captures of other threads do not restrict
/// this thread while it is open, and aborts of the device are counted.
class DeviceContext {
 public:
    DeviceContext() = default;
    ~DeviceContext();
    DeviceContext(const DeviceContext&) = delete;
    DeviceContext& operator=(const DeviceContext&) = delete;

    /// Opens a context on the device with this number, or on device 0 if there is no such device or
    /// no number.
    Outcome Open(std::optional<int32_t> deviceId);

    /// Returns the number of aborts of the device. If it is the same before a launch and after the
    /// synchronisation, no aclrtDeviceTaskAbort has dropped the launch. The synchronisation itself
    /// does not know of an abort that came before it.
    uint64_t aborts() const;

 private:
    aclrtContext context_ = nullptr;
    int32_t deviceId_ = 0;
    aclmdlRICaptureMode mode_ = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;  // swapped with the thread's
};

/// Makes the context that the thread has current again at the end of the object's life, for a run
/// in a thread of the program's functions.
class SavedContext {
 public:
    SavedContext();
    ~SavedContext();
    SavedContext(const SavedContext&) = delete;
    SavedContext& operator=(const SavedContext&) = delete;

 private:
    aclrtContext context_ = nullptr;
};

/// Device memory that is freed with the object. Until then nobody else gets its address, so that a
/// run beside a reset of the device fails and touches no block of another thread.
class DeviceMemory {
 public:
    DeviceMemory() = default;
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    Outcome Allocate(size_t bytes);
    void* address() const { return address_; }
    size_t bytes() const { return bytes_; }

    Outcome Upload(const void* from) const;
    Outcome Download(void* to) const;
    Outcome CopyFrom(const DeviceMemory& other) const;

 private:
    void* address_ = nullptr;
    void* hold_ = nullptr;
    size_t bytes_ = 0;
};

struct TensorDeleter {
    void operator()(aclTensor* tensor) const { aclDestroyTensor(tensor); }
};
using TensorHandle = std::unique_ptr<aclTensor, TensorDeleter>;

/// Returns null if memory is short.
TensorHandle MakeTensor(const ValueDesc& desc, void* address);

}  // namespace advstep::graph
