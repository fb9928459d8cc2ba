// SPDX-License-Identifier: Apache-2.0
// Records tasks, checks what they use, and makes images and listings of branches.

#include "src/runtime/capture/model_body.h"

#include <map>
#include <new>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/base/trace_event.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/commands/notify.h"
#include "src/runtime/device/device.h"
#include "src/runtime/kernels/kernel_binaries.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/sanitizer/device_sanitizer.h"

namespace advstep {
namespace {

// A model has addresses, as on a device: what lies there now may have been allocated, or mapped,
// after the capture. Only a foreign task may use memory of another device than the model's, and
// only a copy may use host memory that has no address on the device.
Status CheckMemory(const RecordedTask& task, const Use& use, const Device& device) {
    Allocation allocation;
    const bool usable = TheDeviceMemory().Find(use.address, &allocation) &&
                        (!allocation.OfDevice() || task.foreign || allocation.device == &device) &&
                        (task.role != Work::Role::kLaunch || allocation.UsableOnDevice());
    if (usable && allocation.BytesFrom(use.address) >= use.bytes) {
        return {};
    }
    if (SanitizingWork() && task.work != nullptr) {
        TheDeviceSanitizer().RefusedReplay(*task.work, &device);
    }
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "{} was captured at {} with {} bytes, which have been freed since; expected "
                 "memory of device {} there at each replay",
                 use.name, use.address, use.bytes, device.id());
}

Status CheckUse(const RecordedTask& task, const Use& use, const Device& device) {
    KernelFunction function;
    switch (use.kind) {
        case Use::Kind::kNotify:
            return TheNotifyTable().CheckAlive(use.address);
        case Use::Kind::kEvent: {
            Event* event = nullptr;
            ADVSTEP_RETURN_IF_ERROR(FindEvent(use.address, &event));
            return event->Check(ToHandle(use.address));
        }
        case Use::Kind::kFunction:
            return TheKernelBinaries().ReadHeld(use.address, &function);
        default:
            return CheckMemory(task, use, device);
    }
}

constexpr int64_t kTaskNanoseconds = 1000;  // a listed task has no time of its own

const char* ListedName(const RecordedTask& task) {
    return task.task().name != nullptr ? task.task().name : "task";
}

const char* ListedCategory(const Task& task) {
    switch (task.kind) {
        case TaskKind::kHostFunction:
            return "host function";
        case TaskKind::kTicketWait:
        case TaskKind::kPollWait:
            return "wait";
        default:
            break;
    }
    switch (task.category) {
        case TaskCategory::kKernel:
            return "kernel";
        case TaskCategory::kMemory:
            return "memory";
        default:
            return "mark";
    }
}

// Words the place in another branch that the task waits for. Empty: the task is no such wait.
std::string ListedPlace(const RecordedTask& task) {
    return task.waitBranch == RecordedTask::kNoWait
               ? std::string()
               : fmt::format("branch {} position {}", task.waitBranch, task.waitPosition);
}

TraceArgs ListedArgs(const RecordedTask& task, bool verbose) {
    TraceArgs args;
    if (std::string place = ListedPlace(task); !place.empty()) {
        args.Add("waits for", place);
    }
    if (!verbose) {
        return args;
    }
    task.task().Describe(&args);
    std::map<std::string_view, int> seen;
    for (const Use& use : task.uses) {
        // A reader of JSON keeps one of the members with the same name.
        const int number = ++seen[use.name];
        const std::string name =
            number == 1 ? std::string(use.name) : fmt::format("{} {}", use.name, number);
        args.Add(name, use.kind == Use::Kind::kMemory
                           ? fmt::format("{} with {} bytes", use.address, use.bytes)
                           : fmt::format("{}", use.address));
    }
    return args;
}

}  // namespace

RecordedTask RecordTask(const Work& work, const RecordFill& fill) {
    RecordedTask recorded;
    recorded.role = work.role;
    recorded.foreign = work.foreign;
    const size_t bytes = AlignedTaskBytes(work.bytes);
    recorded.record.resize(bytes / sizeof(TaskChunk));
    Task* const task = fill(recorded.record.data());
    task->bytes = static_cast<uint32_t>(bytes);
    if (work.listUses != nullptr) {
        work.listUses(work.source, &recorded.uses);
    }
    if (SanitizingWork()) {
        recorded.work = TheDeviceSanitizer().Captured(*task, recorded.uses);
    }
    if (work.takeOwner != nullptr) {
        recorded.owner = work.takeOwner(work.ownerSource);
    }
    return recorded;
}

RecordedTask RecordWaitTask(const CapturePlace& place, int64_t timeoutNanoseconds) {
    RecordedTask recorded;
    constexpr size_t kBytes = AlignedTaskBytes(sizeof(TicketWaitTask));
    recorded.role = Work::Role::kEventWait;
    recorded.record.resize(kBytes / sizeof(TaskChunk));
    auto* const task = new (recorded.record.data()) TicketWaitTask;
    task->name = "event wait";
    task->kind = TaskKind::kTicketWait;
    task->timeoutNanoseconds = timeoutNanoseconds;
    task->bytes = static_cast<uint32_t>(kBytes);
    recorded.waitBranch = place.branch;
    recorded.waitPosition = place.position;
    return recorded;
}

Status CheckUsesOf(const RecordedTask& task, const Device& device) {
    for (const Use& use : task.uses) {
        ADVSTEP_RETURN_IF_ERROR(CheckUse(task, use, device));
    }
    return {};
}

int32_t FindUnjoined(const ModelBody& body) {
    struct Reach {
        size_t covered = 0;   // tasks of the branch for which the end of branch 0 waits
        size_t followed = 0;  // those of them whose waits have been followed
    };
    std::vector<Reach> branches(body.branches.size());
    branches[0].covered = body.branches[0].size();
    // The numbers grow until no wait adds anything.
    for (bool grown = true; grown;) {
        grown = false;
        for (size_t branch = 0; branch < branches.size(); ++branch) {
            Reach& reach = branches[branch];
            for (; reach.followed < reach.covered; ++reach.followed) {
                const RecordedTask& task = body.branches[branch][reach.followed];
                if (task.waitBranch == RecordedTask::kNoWait) {
                    continue;
                }
                size_t& covered = branches[static_cast<size_t>(task.waitBranch)].covered;
                if (task.waitPosition > covered) {
                    covered = task.waitPosition;
                    grown = true;
                }
            }
        }
    }
    for (size_t branch = 0; branch < branches.size(); ++branch) {
        if (branches[branch].covered < body.branches[branch].size()) {
            return static_cast<int32_t>(branch);
        }
    }
    return -1;
}

BranchImage MakeImage(const std::vector<RecordedTask>& branch) {
    BranchImage image;
    for (const RecordedTask& recorded : branch) {
        if (recorded.waitBranch != RecordedTask::kNoWait) {
            const auto& wait = static_cast<const TicketWaitTask&>(recorded.task());
            image.startsTimed =
                image.startsTimed || (image.count == 0 && wait.timeoutNanoseconds > 0);
            image.waits.push_back({image.bytes(), recorded.waitBranch, recorded.waitPosition});
        }
        if (recorded.role == Work::Role::kModelRecord || recorded.role == Work::Role::kModelWait) {
            image.eventTasks.push_back({image.bytes(), image.count + 1,
                                        recorded.uses.front().address,
                                        recorded.role == Work::Role::kModelRecord});
        }
        if (recorded.role == Work::Role::kCallback) {
            image.callbacks.push_back(image.bytes());
        }
        if (recorded.numbered) {
            image.numbered.push_back(image.bytes());
        }
        image.heavy = image.heavy || recorded.task().heavy();
        image.foreign = image.foreign || recorded.foreign;
        if (recorded.groupPlace.group != nullptr) {
            AppendGroupLaunch(recorded.record, recorded.groupPlace, &image.records);
            image.foreign = true;  // an update may bring memory of any device
        } else {
            image.records.insert(image.records.end(), recorded.record.begin(),
                                 recorded.record.end());
        }
        image.works.push_back(recorded.work);
        ++image.count;
    }
    return image;
}

void ListTasks(const ModelBody& body, uint32_t model, std::vector<std::string>* lines) {
    lines->push_back(fmt::format("model {}: {} branches, {} task groups", model,
                                 body.branches.size(), body.groups.size()));
    for (size_t branch = 0; branch < body.branches.size(); ++branch) {
        for (size_t position = 0; position < body.branches[branch].size(); ++position) {
            const RecordedTask& task = body.branches[branch][position];
            const std::string place = ListedPlace(task);
            lines->push_back(fmt::format("model {} branch {} position {}: {}{}{}", model, branch,
                                         position, ListedName(task), place.empty() ? "" : " for ",
                                         place));
        }
    }
}

std::string TasksAsJson(const ModelBody& body, uint32_t model, bool verbose) {
    std::string json;
    for (size_t branch = 0; branch < body.branches.size(); ++branch) {
        int64_t begin = 0;
        for (const RecordedTask& task : body.branches[branch]) {
            json.append(json.empty() ? "[\n" : kTraceSeparator);
            json.append(LaneEvent(
                static_cast<int32_t>(model), fmt::format("stream{}", branch),
                {ListedName(task), ListedCategory(task.task()), begin, begin + kTaskNanoseconds},
                ListedArgs(task, verbose)));
            begin += kTaskNanoseconds;
        }
    }
    return json.empty() ? "[]\n" : json + "\n]\n";
}

}  // namespace advstep
