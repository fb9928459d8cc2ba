#pragma once

#include <memory>
#include <optional>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "src/graph/operator_kind.h"
#include "src/graph/outcome.h"

namespace advstep::graph {

/// Success, or a failure with what the call says of itself.
Outcome CheckAcl(const char* call, int32_t code);

/// aclGetRecentErrMsg, or the code where there is no message.
std::string TakeAclMessage(int32_t code);

/// A context of its own, current in this thread; its default stream runs the operators. One for
/// each run, so that nothing is left when a program resets the device in between. While it is open,
/// captures of other threads do not restrict this one.
class DeviceContext {
 public:
    DeviceContext() = default;
    ~DeviceContext();
    DeviceContext(const DeviceContext&) = delete;
    DeviceContext& operator=(const DeviceContext&) = delete;

    /// The device of this number; another number, or none, is device 0.
    Outcome Open(std::optional<int32_t> deviceId);

 private:
    aclrtContext context_ = nullptr;
    aclmdlRICaptureMode mode_ = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;  // to swap with the thread's
};

/// Device memory that is freed with the object.
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
    size_t bytes_ = 0;
};

struct TensorDeleter {
    void operator()(aclTensor* tensor) const { aclDestroyTensor(tensor); }
};
using TensorHandle = std::unique_ptr<aclTensor, TensorDeleter>;

/// Null where there is no memory for it.
TensorHandle MakeTensor(const ValueDesc& desc, const DeviceMemory& memory);

}  // namespace advstep::graph
