// SPDX-License-Identifier: Apache-2.0
// Writes the trace file: names tracks, and adds the slices of tasks and of cores.

#include "src/runtime/trace/trace.h"

#include <unistd.h>

#include <algorithm>

#include "src/base/log.h"
#include "src/base/never_destroyed.h"

namespace advstep {
namespace {

// Trace viewers take process 0 and thread 0 for the idle task.
constexpr int32_t kFirstProcess = 1;
constexpr int32_t kFirstStream = 1;
constexpr int32_t kFirstCoreThread = 1 << 30;  // above every stream's number

// The library's objects are initialised before the program's and destroyed after them, so the file
// gets what the program's destructors do.
const struct AtExit {
    ~AtExit() { TheTrace().Close(); }
} atExit;

thread_local TracedTask tracedTask;  // that the thread runs; set only while there is a trace

const char* CategoryOf(const Task& task) {
    if (task.kind == TaskKind::kHostFunction) {
        return "host";
    }
    if (task.waits()) {
        return "wait";
    }
    switch (task.category) {
        case TaskCategory::kKernel:
            return "kernel";
        case TaskCategory::kMemory:
            return "memory";
        case TaskCategory::kOther:
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

Trace& TheTrace() {
    static NeverDestroyed<Trace> trace;  // threads may add events until the process is gone
    return *trace;
}

Status Trace::Open(const std::string& path) {
    Close();
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(file_.Open(path));
    start_ = Now();
    arrows_ = 0;
    owner_.store(getpid());
    on_.store(true, std::memory_order_relaxed);
    return {};
}

void Trace::Close() noexcept {
    if (owner_.exchange(0) != getpid()) {
        return;  // nothing is open, or this is a fork's child, where the lock may be held for ever
    }
    on_.store(false, std::memory_order_relaxed);
    const std::lock_guard<std::mutex> lock(mutex_);
    try {
        if (const Status status = file_.Close(); !status.ok()) {
            LogLine(LogLevel::kError, status.message());
        }
        if (const uint64_t lost = lost_.exchange(0); lost > 0) {
            Log(LogLevel::kError, "the trace lacks {} events: the host was out of memory", lost);
        }
    } catch (...) {
        // There is no memory for the message.
    }
    namedDevices_.clear();
    coreThreads_.clear();
    coreTracks_.clear();
    places_.clear();
    placeOrder_.clear();
}

void Trace::WriteLocked(std::string_view events) {
    if (const Status status = file_.Append(events); !status.ok()) {
        on_.store(false, std::memory_order_relaxed);
        LogLine(LogLevel::kError, status.message());
    }
}

TraceSlice Trace::SinceStart(const TraceSlice& slice) const {
    TraceSlice moved = slice;
    moved.begin = std::max<int64_t>(0, slice.begin - start_);
    moved.end = std::max(moved.begin, slice.end - start_);
    return moved;
}

void Trace::NameDeviceLocked(int32_t device) {
    const auto index = static_cast<size_t>(device);
    if (namedDevices_.size() <= index) {
        namedDevices_.resize(index + 1, false);
        coreThreads_.resize(index + 1, 0);
    }
    if (!namedDevices_[index]) {
        WriteLocked(
            ProcessNameEvent({kFirstProcess + device, 0}, fmt::format("device {}", device)));
        namedDevices_[index] = true;
    }
}

TraceTrack Trace::AddStream(int32_t device, int32_t stream, bool ofModel) {
    const TraceTrack track{kFirstProcess + device, kFirstStream + stream};
    const std::lock_guard<std::mutex> lock(mutex_);
    if (file_.IsOpen()) {
        NameDeviceLocked(device);
        WriteLocked(ThreadNameEvent(
            track, fmt::format("{} {}", ofModel ? "model branch" : "stream", stream)));
    }
    return track;
}

TraceTrack Trace::CoreTrackLocked(int32_t device) {
    NameDeviceLocked(device);
    const std::pair<int32_t, int32_t> key{device, gettid()};
    const auto known = coreTracks_.find(key);
    if (known != coreTracks_.end()) {
        return {kFirstProcess + device, known->second};
    }
    const TraceTrack track{kFirstProcess + device,
                           kFirstCoreThread + static_cast<int32_t>(coreTracks_.size())};
    int32_t& count = coreThreads_[static_cast<size_t>(device)];
    coreTracks_.emplace(key, track.thread);
    WriteLocked(ThreadNameEvent(track, fmt::format("core thread {}", count)));
    ++count;
    return track;
}

void Trace::RememberPlaceLocked(const Ticket& place, const ArrowEnd& end) {
    placeOrder_.push_back(place);
    places_[place] = end;
    if (placeOrder_.size() > kMostPlaces) {
        places_.erase(placeOrder_.front());
        placeOrder_.pop_front();
    }
}

void Trace::AddTask(const TraceTrack& track, const Ticket& place, const TraceSlice& slice,
                    const TraceArgs& args, const Ticket& reached) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!file_.IsOpen()) {
        return;
    }
    const TraceSlice moved = SinceStart(slice);
    WriteLocked(SliceEvent(track, moved, args));
    // The arrow ends just before the slice, because an arrow belongs to the slice that is drawn at
    // its time.
    ArrowEnd end{track, std::max(moved.begin, moved.end - 1)};
    if (const auto from = places_.find(reached); from != places_.end()) {
        end.time = std::max(end.time, from->second.time);
        WriteLocked(ArrowEvents(++arrows_, moved.name, from->second, end));
    }
    RememberPlaceLocked(place, end);
}

void Trace::AddSkipped(const TraceTrack& track, const TraceSlice& slice, const TraceArgs& args) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!file_.IsOpen()) {
        return;
    }
    const TraceSlice moved = SinceStart(slice);
    WriteLocked(moved.begin == moved.end
                    ? InstantEvent(track, moved.name, moved.category, moved.begin, args)
                    : SliceEvent(track, moved, args));
}

void Trace::AddCores(int32_t device, const TraceSlice& slice, const TraceArgs& args) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (file_.IsOpen()) {
        WriteLocked(SliceEvent(CoreTrackLocked(device), SinceStart(slice), args));
    }
}

void StreamTrace::Open(int32_t device, int32_t stream, bool ofModel) {
    device_ = device;
    stream_ = stream;
    ofModel_ = ofModel;
    hasTrack_ = false;
}

void StreamTrace::BecameOldest() { oldestSince_ = Trace::Now(); }

TraceTrack StreamTrace::Track() {
    if (!hasTrack_) {
        track_ = TheTrace().AddStream(device_, stream_, ofModel_);
        hasTrack_ = true;
    }
    return track_;
}

void StreamTrace::Begin(const Ticket& place) {
    place_ = place;
    tracedTask = {stream_, place.sequence};
    begin_ = Trace::Now();
}

void StreamTrace::End(const Task& task, int32_t code) noexcept {
    const int64_t end = Trace::Now();
    const int64_t begin = task.waits() ? oldestSince_ : begin_;
    Trace::TryTo([&] {
        const TraceSlice slice{NameOf(task), CategoryOf(task), begin, end};
        TraceArgs args = ArgsOf(task, place_);
        if (code != 0) {
            args.Add("code", code);
        }
        const bool reached = task.kind == TaskKind::kTicketWait && code == 0;
        TheTrace().AddTask(Track(), place_, slice, args,
                           reached ? static_cast<const TicketWaitTask&>(task).ticket : Ticket{});
    });
}

void StreamTrace::Skipped(const Task& task, const Ticket& place) noexcept {
    const int64_t end = Trace::Now();
    const int64_t begin = task.waits() ? oldestSince_ : end;
    Trace::TryTo([&] {
        TraceArgs args = ArgsOf(task, place);
        args.Add("skipped", 1);
        TheTrace().AddSkipped(Track(), {NameOf(task), "skipped", begin, end}, args);
    });
}

TracedKernel TracedKernel::Now(int32_t device, const char* call) {
    const bool traced = Trace::On();
    return {traced, device, call, traced ? tracedTask : TracedTask{}};
}

CoreSlice::CoreSlice(const TracedKernel& kernel, int32_t phase, int32_t first, int32_t count)
    : kernel_(kernel),
      phase_(phase),
      first_(first),
      count_(count),
      begin_(kernel.traced ? Trace::Now() : 0) {}

void CoreSlice::Add() const noexcept {
    const TraceSlice slice{kernel_.call, "cores", begin_, Trace::Now()};
    Trace::TryTo([&] {
        TraceArgs args;
        args.Add("stream", kernel_.task.stream);
        args.Add("task", static_cast<int64_t>(kernel_.task.sequence));
        args.Add("phase", phase_);
        args.Add("first", first_);
        args.Add("cores", count_);
        TheTrace().AddCores(kernel_.device, slice, args);
    });
}

}  // namespace advstep
