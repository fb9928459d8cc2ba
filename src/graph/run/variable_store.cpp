// SPDX-License-Identifier: Apache-2.0
// Makes, reads and replaces the Variables of a session.

#include "src/graph/run/variable_store.h"

#include <cstring>
#include <utility>

#include "src/graph/ir/tensor.h"
#include "src/graph/run/run_plan.h"

namespace advstep::graph {

VariableStore::Lease::~Lease() {
    if (run_.owns_lock()) {
        store_->holder_ = std::thread::id();
    }
}

const uint8_t* VariableStore::Lease::BytesOf(const std::string& name) const {
    const std::lock_guard<std::mutex> lock(store_->mutex_);  // only this run changes the bytes
    return store_->variables_.at(name).memory->address();
}

void VariableStore::Lease::Replace(const std::string& name, const uint8_t* bytes) const {
    const std::lock_guard<std::mutex> lock(store_->mutex_);
    const Variable& variable = store_->variables_.at(name);
    if (variable.desc.bytes > 0) {
        std::memcpy(variable.memory->address(), bytes, variable.desc.bytes);
    }
}

Outcome VariableStore::DescribeLocked(const ModelNode& node, const ge::Tensor& initial,
                                      ValueDesc* desc) const {
    const ge::TensorDesc declared = initial.GetTensorDesc();
    desc->dims = declared.GetShape().GetDims();
    desc->dataType = declared.GetDataType();
    const std::optional<size_t> bytes = ByteSize(desc->dims, desc->dataType);
    if (!bytes || (initial.GetSize() > 0 && initial.GetSize() != *bytes)) {
        return Fail(kBadTensor,
                    "Variable {} has shape {}, data type {} and a value of {} bytes; expected "
                    "dimensions >= 0, fewer than 2^63 bytes, and a value of that shape or none",
                    node.name, ShapeText(desc->dims), NameOf(desc->dataType), initial.GetSize());
    }
    desc->bytes = *bytes;
    const auto found = variables_.find(node.name);
    if (found == variables_.end()) {
        return {};
    }
    const ValueDesc& present = found->second.desc;
    if (present.dims == desc->dims && present.dataType == desc->dataType) {
        return {};
    }
    return Fail(kBadTensor,
                "Variable {} has shape {} and data type {}; expected {} and {}, which it has in "
                "another graph of the session",
                node.name, ShapeText(desc->dims), NameOf(desc->dataType), ShapeText(present.dims),
                NameOf(present.dataType));
}

Outcome VariableStore::EnsureLocked(const ModelNode& node) {
    const ge::Tensor initial = InitialValueOf(node);
    Variable made;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(DescribeLocked(node, initial, &made.desc));
    if (variables_.count(node.name) != 0) {
        return {};
    }
    made.memory = std::make_shared<SessionMemory>(made.desc.bytes);
    if (initial.GetSize() > 0) {
        std::memcpy(made.memory->address(), initial.GetData(), made.desc.bytes);
    }
    variables_.emplace(node.name, std::move(made));
    return {};
}

Outcome VariableStore::Check(const GraphModel& model) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const ModelNode& node : model.nodes) {
        ValueDesc desc;
        if (node.IsVariable()) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(DescribeLocked(node, InitialValueOf(node), &desc));
        }
    }
    return {};
}

Outcome VariableStore::CheckNotLeasedHere() const {
    return holder_ != std::this_thread::get_id()
               ? Outcome()
               : Fail(kBadSession,
                      "a function of an operator needs the Variables of the session, which the "
                      "operator's run has; expected a call after the run");
}

Outcome VariableStore::Acquire(const GraphModel& model, Lease* lease) {
    for (const ModelNode& node : model.nodes) {
        if (!node.IsVariable()) {
            continue;
        }
        if (!lease->run_.owns_lock()) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckNotLeasedHere());
            lease->run_ = std::unique_lock<std::mutex>(runs_);
            lease->store_ = this;
            holder_ = std::this_thread::get_id();
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_GRAPH_RETURN_IF_ERROR(EnsureLocked(node));
    }
    return {};
}

Outcome VariableStore::Share(const GraphModel& model,
                             std::map<size_t, std::shared_ptr<SessionMemory>>* memory) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t place = 0; place < model.nodes.size(); ++place) {
        const ModelNode& node = model.nodes[place];
        if (node.IsVariable()) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(EnsureLocked(node));
            std::shared_ptr<SessionMemory> shared = variables_.at(node.name).memory;
            ADVSTEP_GRAPH_RETURN_IF_ERROR(shared->Register());
            memory->emplace(place, std::move(shared));
        }
    }
    return {};
}

Outcome VariableStore::Read(const std::string& name,
                            const std::vector<std::shared_ptr<const GraphModel>>& graphs,
                            ge::Tensor* tensor) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto found = variables_.find(name);
    for (const auto& graph : graphs) {
        for (const ModelNode& node : graph->nodes) {
            if (found == variables_.end() && node.IsVariable() && node.name == name) {
                ADVSTEP_GRAPH_RETURN_IF_ERROR(EnsureLocked(node));
                found = variables_.find(name);
            }
        }
    }
    if (found == variables_.end()) {
        return Fail(kBadSession, "no graph of the session has a Variable {}", name);
    }
    const ValueDesc& desc = found->second.desc;
    *tensor = ge::Tensor(ge::TensorDesc(ge::Shape(desc.dims), ge::FORMAT_ND, desc.dataType),
                         desc.bytes == 0 ? nullptr : found->second.memory->address(), desc.bytes);
    if (tensor->GetSize() != desc.bytes) {
        return Outcome::OutOfMemory();
    }
    return {};
}

}  // namespace advstep::graph
