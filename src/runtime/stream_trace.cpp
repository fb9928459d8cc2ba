#include "src/runtime/stream_trace.h"

#include "src/runtime/copy.h"
#include "src/runtime/copy_batch.h"
#include "src/runtime/core_trace.h"
#include "src/runtime/device.h"
#include "src/runtime/kernel_launch.h"
#include "src/runtime/trace.h"

namespace advstep {
namespace {

bool IsWait(const Task& task) {
    return task.kind == TaskKind::kTicketWait || task.kind == TaskKind::kPollWait;
}

const char* CategoryOf(const Task& task) {
    switch (task.topic) {
        case TaskTopic::kKernel:
            return "kernel";
        case TaskTopic::kCopy:
        case TaskTopic::kCopyBatch:
        case TaskTopic::kFill:
            return "memory";
        case TaskTopic::kOther:
            break;
    }
    if (task.kind == TaskKind::kHostFunction) {
        return "host";
    }
    return IsWait(task) ? "wait" : "mark";
}

int64_t BytesOf(const CopyBatchTask& batch) {
    const auto* const copies = reinterpret_cast<const CopyBatchTask::Copy*>(&batch + 1);
    size_t bytes = 0;
    for (size_t i = 0; i < batch.count; ++i) {
        bytes += copies[i].count;
    }
    return static_cast<int64_t>(bytes);
}

TraceArgs ArgsOf(const Task& task, const Ticket& place) {
    TraceArgs args;
    args.Add("task", static_cast<int64_t>(place.sequence));
    switch (task.topic) {
        case TaskTopic::kKernel: {
            const KernelLaunch& launch = static_cast<const KernelTask&>(task).launch;
            args.Add("rows", launch.rows);
            args.Add("cores", launch.coreCount);
            break;
        }
        case TaskTopic::kCopy: {
            const auto& copy = static_cast<const CopyTask&>(task);
            args.Add("bytes", static_cast<int64_t>(copy.count * copy.rows));
            break;
        }
        case TaskTopic::kCopyBatch: {
            const auto& batch = static_cast<const CopyBatchTask&>(task);
            args.Add("bytes", BytesOf(batch));
            args.Add("copies", static_cast<int64_t>(batch.count));
            break;
        }
        case TaskTopic::kFill:
            args.Add("bytes", static_cast<int64_t>(static_cast<const FillTask&>(task).count));
            break;
        case TaskTopic::kOther:
            break;
    }
    return args;
}

const char* NameOf(const Task& task) { return task.name != nullptr ? task.name : "task"; }

}  // namespace

void StreamTrace::Open(const Device* device, int32_t stream, bool ofGraph) {
    device_ = device;
    stream_ = stream;
    ofGraph_ = ofGraph;
    hasTrack_ = false;
}

void StreamTrace::BecameOldest() { oldestSince_ = Trace::Now(); }

TraceTrack StreamTrace::Track() {
    if (!hasTrack_) {
        track_ = Trace::Instance().AddStream(device_->id(), stream_, ofGraph_);
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
    const int64_t begin = IsWait(task) ? oldestSince_ : begin_;
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
    const int64_t begin = IsWait(task) ? oldestSince_ : end;
    Trace::TryTo([&] {
        TraceArgs args = ArgsOf(task, place);
        args.Add("skipped", 1);
        Trace::Instance().AddSkipped(Track(), {NameOf(task), "skipped", begin, end}, args);
    });
}

}  // namespace advstep
