// SPDX-License-Identifier: Apache-2.0
// Implements the variables of conditional tasks, and the sub-graphs that a task has.

#include "src/runtime/capture/condition.h"

#include <cstring>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/memory/memories.h"

namespace advstep {
namespace {

struct ConditionTable : HandleTable<Condition> {
    ConditionTable() : HandleTable(HandleKind::kCondition) {}
};

}  // namespace

HandleTable<Condition>& Conditions() {
    static NeverDestroyed<ConditionTable> conditions;
    return *conditions;
}

Status Condition::Open(Handle handle, const Setup& setup) {
    void* memory = nullptr;
    ADVSTEP_RETURN_IF_ERROR(TheDeviceMemory().Allocate(MemoryKind::kDevice, setup.context.device,
                                                       sizeof(uint64_t), &memory));
    std::memset(memory, 0, sizeof(uint64_t));
    const std::lock_guard<std::mutex> lock(mutex_);
    handle_ = handle;
    setup_ = setup;
    variable_ = static_cast<uint64_t*>(memory);
    use_ = {Use::Kind::kMemory, "the variable of a conditional task", memory, sizeof(uint64_t),
            TheDeviceMemory().epoch()};
    uncaptured_.store(0);
    return {};
}

void Condition::Close() noexcept {
    std::vector<Part> parts;
    {
        // Both change together, so that AddParts of another thread adds nothing that would stay.
        const std::lock_guard<std::mutex> lock(mutex_);
        handle_ = 0;
        parts.swap(parts_);
    }
    for (const Part& part : parts) {
        ClosePart(part.model, part.handle);
    }
    // A reset of the device may have taken the variable, and its address may be in use again.
    Allocation found;
    try {
        if (TheDeviceMemory().Find(variable_, &found) && found.born <= use_.epoch &&
            found.begin == reinterpret_cast<uintptr_t>(variable_)) {
            (void)TheDeviceMemory().Free(MemoryKind::kDevice, variable_);
        }
    } catch (const std::bad_alloc&) {
        // The variable stays until the end of the device.
    }
}

Status Condition::CheckAlive(Handle handle) const {
    return handle_ == handle
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "handle {} is no condition, or its model has been destroyed; expected one "
                       "of aclmdlRICondHandleCreate",
                       ToPointer(handle));
}

Status Condition::Address(Handle handle, uint64_t** address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    *address = variable_;
    return {};
}

Status Condition::CheckUnused(Handle handle, Handle model) const {
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    if (setup_.model != model) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "handle {} is of modelRI {}; expected one of {}, into which the stream is "
                     "being captured",
                     ToPointer(handle), ToPointer(setup_.model), ToPointer(model));
    }
    if (setup_.depth == kMostDepth) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "handle {} is of modelRI {} inside {} conditional tasks; expected at most {} "
                     "around a sub-graph",
                     ToPointer(handle), ToPointer(model), setup_.depth, kMostDepth);
    }
    return parts_.empty() ? Status()
                          : Error(ACL_ERROR_RT_PARAM_INVALID,
                                  "handle {} has a conditional task; expected a handle for each "
                                  "task",
                                  ToPointer(handle));
}

Status Condition::AddParts(Handle handle, Handle model, aclmdlRICondTaskType type, uint32_t size) {
    ContextRef context;
    int depth = 0;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUnused(handle, model));
        context = setup_.context;
        depth = setup_.depth + 1;
    }
    std::vector<Part> parts;
    parts.reserve(size);
    Status added;
    try {
        for (uint32_t index = 0; index < size; ++index) {
            const auto entry = Models().Acquire();
            entry.object->OpenPart(entry.handle, context, this, depth);
            parts.push_back({entry.object, entry.handle});
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        added = CheckUnused(handle, model);  // another thread may have been faster
        if (added.ok()) {
            type_ = type;
            uncaptured_.store(size);
            parts_.swap(parts);
        }
    } catch (const std::bad_alloc&) {
        added = Status(ACL_ERROR_BAD_ALLOC);
    }
    for (const Part& part : parts) {
        ClosePart(part.model, part.handle);
    }
    return added;
}

void Condition::RemoveParts(Handle handle) noexcept {
    std::vector<Part> parts;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (handle_ == handle) {
            parts.swap(parts_);
            uncaptured_.store(0);
        }
    }
    for (const Part& part : parts) {
        ClosePart(part.model, part.handle);
    }
}

void Condition::ListParts(Handle handle, aclmdlRI* parts) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ == handle) {
        for (const Part& part : parts_) {
            *parts++ = ToPointer(part.handle);
        }
    }
}

Status Condition::CheckUses() {
    Use use;
    std::vector<Part> parts;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        use = use_;
        parts = parts_;
    }
    ADVSTEP_RETURN_IF_ERROR(CheckUse(use));
    for (const Part& part : parts) {
        ADVSTEP_RETURN_IF_ERROR(part.model->CheckPart(part.handle));
    }
    return {};
}

const Condition::Part* Condition::Choose() const {
    const uint64_t value = Value();
    uint64_t index = value;
    switch (type_) {
        case ACL_MODEL_RI_COND_TYPE_IF:
            index = value != 0 ? 0 : 1;
            break;
        case ACL_MODEL_RI_COND_TYPE_WHILE:
            index = value != 0 ? 0 : parts_.size();
            break;
        default:
            break;
    }
    return index < parts_.size() ? &parts_[index] : nullptr;
}

}  // namespace advstep
