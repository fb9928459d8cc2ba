// SPDX-License-Identifier: Apache-2.0
// Adds the tasks and waits of a stream to the trace.

#include "src/runtime/stream/stream_trace.h"

#include "src/runtime/device/device.h"
#include "src/runtime/stream/front_wait.h"
#include "src/runtime/trace/core_trace.h"
#include "src/runtime/trace/trace.h"

namespace advstep {
namespace {

const char* CategoryOf(const Task& task) {
    if (task.kind == TaskKind::kHostFunction) {
        return "host";
    }
    if (FrontWait::IsWait(task)) {
        return "wait";
    }
    switch (task.category) {
        case TaskCategory::kKernel:
            return "kernel";
        case TaskCategory::kMemory:
            return "memory";
        case TaskCategory::kMark:
            break;
    }
    return "mark";
}

TraceArgs ArgsOf(const Task& task, const Ticket& place) {
    TraceArgs args;
    args.Add("task", static_cast<int64_t>(place.sequence));
    task.Describe(&args);
    return args;
}

const char* NameOf(const Task& task) { return task.name != nullptr ? task.name : "task"; }

}  // namespace

void StreamTrace::Open(const Device* device, int32_t stream, bool ofModel) {
    device_ = device;
    stream_ = stream;
    ofModel_ = ofModel;
    hasTrack_ = false;
}

void StreamTrace::BecameOldest() { oldestSince_ = Trace::Now(); }

TraceTrack StreamTrace::Track() {
    if (!hasTrack_) {
        track_ = Trace::Instance().AddStream(device_->id(), stream_, ofModel_);
        hasTrack_ = true;
    }
    return track_;
}

void StreamTrace::Begin(const Ticket& place) {
    place_ = place;
    SetTracedTask({stream_, place.sequence});
    begin_ = Trace::Now();
}

void StreamTrace::End(const Task& task, int32_t code) noexcept {
    const int64_t end = Trace::Now();
    const int64_t begin = FrontWait::IsWait(task) ? oldestSince_ : begin_;
    Trace::TryTo([&] {
        const TraceSlice slice{NameOf(task), CategoryOf(task), begin, end};
        TraceArgs args = ArgsOf(task, place_);
        if (code != 0) {
            args.Add("code", code);
        }
        const bool reached = task.kind == TaskKind::kTicketWait && code == 0;
        Trace::Instance().AddTask(
            Track(), place_, slice, args,
            reached ? static_cast<const TicketWaitTask&>(task).ticket : Ticket{});
    });
}

void StreamTrace::Skipped(const Task& task, const Ticket& place) noexcept {
    const int64_t end = Trace::Now();
    const int64_t begin = FrontWait::IsWait(task) ? oldestSince_ : end;
    Trace::TryTo([&] {
        TraceArgs args = ArgsOf(task, place);
        args.Add("skipped", 1);
        Trace::Instance().AddSkipped(Track(), {NameOf(task), "skipped", begin, end}, args);
    });
}

}  // namespace advstep
