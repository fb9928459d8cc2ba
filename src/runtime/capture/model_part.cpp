// SPDX-License-Identifier: Apache-2.0
// Models that are sub-graphs of conditional tasks.
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/capture/condition.h"
#include "src/runtime/capture/model.h"

namespace advstep {

void ReleaseParts(const ModelBody& body) noexcept {
    for (TaskGroup* const group : body.groups) {
        group->Close();
        TaskGroups().Release(group);
    }
    for (Condition* const condition : body.conditions) {
        condition->Close();
        Conditions().Release(condition);
    }
}

void ClosePart(Model* model, Handle handle) noexcept {
    if (model->ClosePart(handle)) {
        Models().Release(model);
    }
}

void Model::OpenPart(Handle handle, const ContextRef& context, Condition* owner, int depth) {
    const std::lock_guard<std::mutex> lock(mutex_);
    handle_ = handle;
    context_ = context;
    session_ = nullptr;
    owner_ = owner;
    depth_ = depth;
    captured_ = false;
}

// Success for a model that is no sub-graph, alive or not.
Status Model::CheckWhole(Handle handle, const char* call) const {
    return handle_ != handle || owner_ == nullptr
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "modelRI {} is a sub-graph of a conditional task, which is {} with its "
                       "model only; expected a model of its own",
                       ToPointer(handle), call);
}

Status Model::BeginPart(Handle handle, const std::shared_ptr<CaptureSession>& session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ != handle) {
        return CheckUsable(handle);
    }
    if (owner_ == nullptr || captured_ || session_ != nullptr) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "modelRI {} {}; expected one of the sub-graphs that aclmdlRIAddCondTask "
                     "returned, once",
                     ToPointer(handle),
                     owner_ == nullptr ? "is no sub-graph" : "has a capture already");
    }
    ADVSTEP_RETURN_IF_ERROR(CheckContext(session->context().handle));
    session_ = session;
    return {};
}

bool Model::ForgetCapture(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ != handle || owner_ == nullptr) {
        return false;
    }
    session_ = nullptr;
    return true;
}

Status Model::FindCapture(Handle handle, std::shared_ptr<CaptureSession>* session, int* depth) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ != handle || session_ == nullptr) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "modelRI {} is not being captured; expected that of aclmdlRICaptureGetInfo "
                     "during its capture",
                     ToPointer(handle));
    }
    *session = session_;
    *depth = depth_;
    return {};
}

bool Model::IsPart(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return handle_ == handle && owner_ != nullptr;
}

Status Model::CheckPart(Handle handle) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
        ADVSTEP_RETURN_IF_ERROR(CheckUses());
    }
    return CheckParts(handle);
}

Status Model::CheckParts(Handle handle) {
    std::vector<Condition*> conditions;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
        conditions = body_.conditions;
    }
    for (Condition* const condition : conditions) {
        ADVSTEP_RETURN_IF_ERROR(condition->CheckUses());
    }
    return {};
}

Status Model::QueuePart(Handle handle, const PartId& part, Stream* parent, PartRun* run) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    const Branch& main = branches_[0];
    PartRun queued;
    queued.stream = main.stream;
    queued.before = main.stream->Now().sequence;  // nothing else queues there
    queued.ends.resize(branches_.size());
    for (const Branch& branch : branches_) {
        branch.stream->SetParent(parent);  // before a task can run there
    }
    ADVSTEP_RETURN_IF_ERROR(ReplayLocked({main.stream, main.streamHandle, context_.handle}, true,
                                         queued.ends.data(), part));
    for (size_t index = 1; index < branches_.size(); ++index) {
        queued.ends[index] = branches_[index].end;
    }
    *run = std::move(queued);
    return {};
}

bool Model::ClosePart(Handle handle) noexcept {
    std::unique_lock<std::mutex> lock(mutex_);
    if (handle_ != handle) {
        return false;
    }
    try {
        DestroyStreams(branches_);
    } catch (const std::bad_alloc&) {
        // The streams stay until the end of the context.
    }
    const ModelBody body = CloseLocked();
    lock.unlock();
    ReleaseParts(body);
    return true;
}

}  // namespace advstep
