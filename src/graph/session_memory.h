// SPDX-License-Identifier: Apache-2.0
// Memory of a session that the device uses from run to run.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/graph/outcome.h"
#include "src/graph/tensor_state.h"

namespace advstep::graph {

/// Zeroed memory that the device can use once it is registered. It is host memory of the library,
/// which survives resets. Memory of aclrtMalloc would not do: a reset of the device frees it, and
/// another allocation may get its address, so a session could neither use it safely nor free it.
class SessionMemory {
 public:
    /// Throws std::bad_alloc.
    explicit SessionMemory(size_t bytes);
    /// Waits for the work that is queued in any stream, if the memory was registered.
    ~SessionMemory();
    SessionMemory(const SessionMemory&) = delete;
    SessionMemory& operator=(const SessionMemory&) = delete;

    uint8_t* address() const { return bytes_.get(); }

    /// Makes the memory usable as device memory, until aclFinalize; then it can be called again.
    Outcome Register();

 private:
    size_t size_;
    HostBytes bytes_;
    bool isRegistered_ = false;
};

}  // namespace advstep::graph
