// SPDX-License-Identifier: Apache-2.0
// Implements the life of a model: capture, replay and updates.

#include "src/runtime/capture/model.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/capture/condition.h"
#include "src/runtime/commands/launcher.h"
#include "src/runtime/commands/notify.h"
#include "src/runtime/kernels/kernel_binaries.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

struct ModelTable : HandleTable<Model> {
    ModelTable() : HandleTable(HandleKind::kModel) {}
};

struct TaskGroupTable : HandleTable<TaskGroup> {
    TaskGroupTable() : HandleTable(HandleKind::kTaskGroup) {}
};

}  // namespace

HandleTable<Model>& Models() {
    static NeverDestroyed<ModelTable> models;
    return *models;
}

HandleTable<TaskGroup>& TaskGroups() {
    static NeverDestroyed<TaskGroupTable> groups;
    return *groups;
}

void Model::Open(Handle handle, const ContextRef& context,
                 const std::shared_ptr<CaptureSession>& session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    handle_ = handle;
    context_ = context;
    session_ = session;
    owner_ = nullptr;
    depth_ = 0;
    captured_ = false;
}

Status Model::CheckUsable(Handle handle) const {
    if (handle_ != handle) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "modelRI {} is no model or has been destroyed; expected one of "
                     "aclmdlRICaptureEnd",
                     ToPointer(handle));
    }
    if (!captured_) {
        return Error(ACL_ERROR_RT_MODEL_CAPTURED,
                     "modelRI {} {}; expected aclmdlRICaptureEnd before", ToPointer(handle),
                     session_ != nullptr ? "is being captured" : "has not been captured");
    }
    return {};
}

Status Model::CheckContext(Handle caller) const {
    return context_.handle == caller
               ? Status()
               : Error(ACL_ERROR_RT_STREAM_CONTEXT,
                       "modelRI {} was captured in context {}; expected the current context {}",
                       ToPointer(handle_), ToPointer(context_.handle), ToPointer(caller));
}

void Model::NoteUses() {
    checkedEpoch_ = 0;
    usesHandles_ = false;
    for (const std::vector<RecordedTask>& tasks : body_.branches) {
        for (const RecordedTask& task : tasks) {
            for (const Use& use : task.uses) {
                usesHandles_ = usesHandles_ || use.kind != Use::Kind::kMemory;
            }
        }
    }
    const BranchImage& main = branches_[0].image;
    plain_ = !usesHandles_ && owner_ == nullptr && branches_.size() == 1 &&
             body_.conditions.empty() && body_.groups.empty() && main.count > 0 &&
             main.waits.empty() && main.marks.empty() && main.numbered.empty() &&
             main.callbacks.empty();
}

Status Model::Check(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return CheckUsable(handle);
}

Status Model::Finish(Handle handle, ModelBody* body) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ != handle) {
        return CheckUsable(handle);
    }
    std::vector<Branch> branches(body->branches.size());
    Status created;
    try {
        for (size_t index = 0; index < branches.size(); ++index) {
            branches[index].image = MakeImage(body->branches[index]);
            if (index == 0 && owner_ != nullptr) {
                // Made now, because a replay of the parent could not report a failure.
                created = CreateHiddenStream(context_, &branches[index].stream,
                                             &branches[index].streamHandle);
            } else if (index > 0) {
                created = CreateBranchStream(context_, &branches[index].stream,
                                             &branches[index].streamHandle);
            }
            if (!created.ok()) {
                DestroyStreams(branches);
                return created;
            }
        }
    } catch (...) {
        DestroyStreams(branches);
        throw;
    }
    session_ = nullptr;
    captured_ = true;
    branches_ = std::move(branches);
    body_ = std::move(*body);
    *body = ModelBody{};
    NoteUses();
    if (owner_ != nullptr) {
        owner_->PartIsCaptured();
    }
    return {};
}

Status Model::Replay(Handle handle, const StreamRef& stream) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (handle_ == handle && ReplaysPlainly(stream)) {
            return ReplayPlainly(stream);
        }
    }
    // Until the replay is queued, none of its functions is unloaded, and no notify or external
    // event is destroyed.
    const KernelBinaries::Hold hold = TheKernelBinaries().HoldAll();
    const NotifyTable::Hold notifies = NotifyTable::Instance().HoldAll();
    const Event::Hold events = Event::HoldExternal();
    ADVSTEP_RETURN_IF_ERROR(CheckParts(handle));
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    ADVSTEP_RETURN_IF_ERROR(CheckWhole(handle, "executed"));
    ADVSTEP_RETURN_IF_ERROR(stream.Check());
    ADVSTEP_RETURN_IF_ERROR(CheckContext(stream.caller));
    ADVSTEP_RETURN_IF_ERROR(RefuseDuringAbort(*context_.device, "a replay"));
    Ticket end;
    return ReplayLocked(stream, false, &end);
}

Status Model::Replace(Handle handle, const TaskGroup::Span& span,
                      std::vector<RecordedTask> launches) {
    // Replaced launches are destroyed after the locks are released.
    TaskGroup::Launches newest;
    std::vector<RecordedTask> replaced;
    const KernelBinaries::Hold hold = TheKernelBinaries().HoldAll();
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    std::vector<RecordedTask>& tasks = body_.branches[static_cast<size_t>(span.branch)];
    if (launches.size() != span.count) {
        return Error(ACL_ERROR_RT_INTERNAL_ERROR,
                     "the update has {} launches; expected the {} of the task group",
                     launches.size(), span.count);
    }
    for (size_t index = 0; index < launches.size(); ++index) {
        const char* const now = tasks[span.first + index].task().name;
        const char* const then = launches[index].task().name;
        if (std::strcmp(now, then) != 0) {
            return Error(ACL_ERROR_RT_INTERNAL_ERROR,
                         "launch {} of the update is {}; expected {} as in the task group", index,
                         then, now);
        }
    }
    for (size_t index = 0; index < launches.size(); ++index) {
        // Queued replays do not check again that memory and functions exist. None of those that
        // exist now is freed before they have ended.
        RecordedTask& launch = launches[index];
        ADVSTEP_RETURN_IF_ERROR(CheckUsesOf(launch));
        const RecordedTask& old = tasks[span.first + index];
        launch.group = old.group;
        launch.groupHandle = old.groupHandle;
        launch.groupIndex = old.groupIndex;
        newest.push_back(
            std::make_shared<const SharedRecord>(SharedRecord{launch.record, launch.kept}));
    }
    replaced = tasks;
    std::move(launches.begin(), launches.end(),
              replaced.begin() + static_cast<ptrdiff_t>(span.first));
    BranchImage image = MakeImage(replaced);
    tasks.swap(replaced);
    if (span.count > 0) {
        const RecordedTask& first = tasks[span.first];
        first.group->Update(first.groupHandle, &newest);
    }
    branches_[static_cast<size_t>(span.branch)].image = std::move(image);
    NoteUses();
    return {};
}

}  // namespace advstep
