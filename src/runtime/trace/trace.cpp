// SPDX-License-Identifier: Apache-2.0
// Opens and closes the trace file, names its tracks and writes its events.

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
    ~AtExit() { Trace::Instance().Close(); }
} atExit;

}  // namespace

Trace& Trace::Instance() {
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

void Trace::KeepPlaceLocked(const Ticket& place, const ArrowEnd& end) {
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
    KeepPlaceLocked(place, end);
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

}  // namespace advstep
