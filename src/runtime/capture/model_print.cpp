// SPDX-License-Identifier: Apache-2.0
// The tasks of a model as text, and as events that a trace viewer shows.
#include <utility>

#include "src/base/log.h"
#include "src/base/trace_event.h"
#include "src/runtime/capture/model.h"

namespace advstep {
namespace {

constexpr int64_t kTaskNanoseconds = 1000;

const char* PrintedName(const RecordedTask& task) {
    return task.task().name != nullptr ? task.task().name : "task";
}

const char* PrintedCategory(const Task& task) {
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
std::string PrintedPlace(const RecordedTask& task) {
    return task.waitBranch == RecordedTask::kNoWait
               ? std::string()
               : fmt::format("branch {} position {}", task.waitBranch, task.waitPosition);
}

TraceArgs PrintedArgs(const RecordedTask& task, bool verbose) {
    TraceArgs args;
    if (std::string place = PrintedPlace(task); !place.empty()) {
        args.Add("waits for", place);
    }
    if (!verbose) {
        return args;
    }
    task.task().Describe(&args);
    for (const Use& use : task.uses) {
        args.Add(use.name, use.kind == Use::Kind::kMemory
                               ? fmt::format("{} with {} bytes", use.address, use.bytes)
                               : fmt::format("{}", use.address));
    }
    return args;
}

}  // namespace

Status Model::Print(Handle handle, std::vector<std::string>* lines) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    const uint32_t number = IndexOf(handle);
    lines->push_back(fmt::format("model {}: {} branches, {} task groups", number,
                                 body_.branches.size(), body_.groups.size()));
    for (size_t branch = 0; branch < body_.branches.size(); ++branch) {
        for (size_t position = 0; position < body_.branches[branch].size(); ++position) {
            const RecordedTask& task = body_.branches[branch][position];
            const std::string place = PrintedPlace(task);
            lines->push_back(fmt::format("model {} branch {} position {}: {}{}{}", number, branch,
                                         position, PrintedName(task), place.empty() ? "" : " for ",
                                         place));
        }
    }
    return {};
}

Status Model::PrintEvents(Handle handle, bool verbose, std::string* json) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    const auto process = static_cast<int32_t>(IndexOf(handle));
    *json = "[\n" + ProcessNameEvent({process, 0}, fmt::format("model {}", process));
    for (size_t branch = 0; branch < body_.branches.size(); ++branch) {
        const TraceTrack track{process, static_cast<int32_t>(branch)};
        json->append(kTraceSeparator);
        json->append(ThreadNameEvent(track, fmt::format("branch {}", branch)));
        int64_t begin = 0;
        for (const RecordedTask& task : body_.branches[branch]) {
            json->append(kTraceSeparator);
            json->append(SliceEvent(
                track,
                {PrintedName(task), PrintedCategory(task.task()), begin, begin + kTaskNanoseconds},
                PrintedArgs(task, verbose)));
            begin += kTaskNanoseconds;
        }
    }
    json->append("\n]\n");
    return {};
}

}  // namespace advstep
