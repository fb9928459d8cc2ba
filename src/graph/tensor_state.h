// SPDX-License-Identifier: Apache-2.0
// The state that all copies of one ge::Tensor share.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>

#include "graph/tensor.h"

namespace advstep::graph {

/// Bytes in host memory: memory of the program, or memory of the library, aligned to 64 bytes.
using HostBytes = std::unique_ptr<uint8_t[], std::function<void(uint8_t*)>>;

constexpr std::align_val_t kHostAlignment{64};

/// Allocates bytes; null for size 0. Throws std::bad_alloc.
inline HostBytes MakeHostBytes(size_t size) {
    auto* bytes = size == 0 ? nullptr : static_cast<uint8_t*>(operator new(size, kHostAlignment));
    return HostBytes(bytes, [](uint8_t* from) { operator delete(from, kHostAlignment); });
}

/// The state that the copies of one ge::Tensor share. It has no lock, like a std::vector.
struct TensorState {
    ge::TensorDesc desc;
    HostBytes bytes;
    size_t size = 0;
};

}  // namespace advstep::graph
