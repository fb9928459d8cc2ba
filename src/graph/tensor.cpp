// SPDX-License-Identifier: Apache-2.0
// The public class Tensor: a description with bytes.

#include <cstring>
#include <utility>

#include "src/graph/tensor_state.h"

namespace ge {

using advstep::graph::HostBytes;
using advstep::graph::MakeHostBytes;
using advstep::graph::TensorState;

Tensor::Tensor() : state_(std::make_shared<TensorState>()) {}

Tensor::Tensor(const TensorDesc& desc) : Tensor() { state_->desc = desc; }

Tensor::Tensor(const TensorDesc& desc, const std::vector<uint8_t>& data)
    : Tensor(desc, data.data(), data.size()) {}

Tensor::Tensor(const TensorDesc& desc, const uint8_t* data, size_t size) : Tensor(desc) {
    SetData(data, size);
}

Tensor Tensor::Clone() const { return Tensor(state_->desc, state_->bytes.get(), state_->size); }

TensorDesc Tensor::GetTensorDesc() const { return state_->desc; }

graphStatus Tensor::SetTensorDesc(const TensorDesc& desc) {
    state_->desc = desc;
    return GRAPH_SUCCESS;
}

const uint8_t* Tensor::GetData() const { return state_->bytes.get(); }

uint8_t* Tensor::GetData() { return state_->bytes.get(); }

size_t Tensor::GetSize() const { return state_->size; }

graphStatus Tensor::SetData(const uint8_t* data, size_t size) try {
    if (data == nullptr && size > 0) {
        return GRAPH_FAILED;
    }
    HostBytes bytes = MakeHostBytes(size);
    if (size > 0) {
        std::memcpy(bytes.get(), data, size);
    }
    state_->bytes = std::move(bytes);
    state_->size = size;
    return GRAPH_SUCCESS;
} catch (...) {
    return GRAPH_FAILED;
}

graphStatus Tensor::SetData(const std::vector<uint8_t>& data) {
    return SetData(data.data(), data.size());
}

graphStatus Tensor::SetData(uint8_t* data, size_t size,
                            const std::function<void(uint8_t*)>& deleter) try {
    if (data == nullptr && size > 0) {
        return GRAPH_FAILED;
    }
    // A unique_ptr calls its deleter even if that is an empty function, so there is always one.
    std::function<void(uint8_t*)> release = [](uint8_t*) {};
    if (deleter) {
        release = deleter;
    }
    state_->bytes = HostBytes(data, std::move(release));
    state_->size = size;
    return GRAPH_SUCCESS;
} catch (...) {
    return GRAPH_FAILED;
}

}  // namespace ge
