// SPDX-License-Identifier: Apache-2.0
// The trace of the process: its file, the slices of streams and those of simulated cores.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/base/trace_event.h"
#include "src/base/trace_file.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Trace;
Trace& TheTrace();

/// The trace of this process (docs/tracing.md). It shows a process per device, with a track per
/// stream and a track per thread that plays cores. A thread adds an event when the event has ended,
/// so the file has the events in the order of their ends.
///
/// mutex_ guards everything except the atomics. It is taken last: perhaps under a stream's lock or
/// the device registry's, and no lock is taken under it.
class Trace {
 public:
    /// The child of a fork gets a new trace, which is off: the file is the parent's.
    Trace() { on_.store(false, std::memory_order_relaxed); }

    /// Returns whether there is a trace, by one relaxed load.
    static bool On() { return on_.load(std::memory_order_relaxed); }

    /// Returns the time of slices, in nanoseconds.
    static int64_t Now() {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }

    /// Begins a trace and overwrites the file of an earlier one. 100008: the file cannot be
    /// written.
    Status Open(const std::string& path);
    /// Ends the trace, if there is one. Events that threads add later are dropped. The end of the
    /// process ends the trace as well.
    void Close() noexcept;

    /// Runs `tell`, which adds an event. The event is lost, and counted as lost, if there is no
    /// memory for it.
    template <typename Tell>
    static void TryTo(Tell&& tell) noexcept {
        try {
            tell();
        } catch (...) {
            TheTrace().lost_.fetch_add(1, std::memory_order_relaxed);
        }
    }

    // Slices are given in the time of Now(). The calls do nothing if the trace has ended.

    /// Makes a stream's track and names it.
    TraceTrack AddStream(int32_t device, int32_t stream, bool ofModel);

    /// Adds a task that has ended; `place` is the place of the task. A wait that ended because the
    /// ticket `reached` was reached gets an arrow from there, if that is one of the last
    /// kMostPlaces tasks.
    void AddTask(const TraceTrack& track, const Ticket& place, const TraceSlice& slice,
                 const TraceArgs& args, const Ticket& reached);

    /// Adds a task that was skipped, or a wait that was given up.
    void AddSkipped(const TraceTrack& track, const TraceSlice& slice, const TraceArgs& args);

    /// Adds cores that the calling thread has played for a device.
    void AddCores(int32_t device, const TraceSlice& slice, const TraceArgs& args);

    static constexpr size_t kMostPlaces = size_t{1} << 16;

 private:
    struct PlaceHash {
        size_t operator()(const Ticket& place) const {
            return std::hash<const void*>()(place.stream) ^
                   (std::hash<uint64_t>()(place.sequence) << 1U);
        }
    };
    struct SamePlace {
        bool operator()(const Ticket& a, const Ticket& b) const {
            return a.stream == b.stream && a.sequence == b.sequence;
        }
    };

    void WriteLocked(std::string_view events);
    void NameDeviceLocked(int32_t device);
    TraceTrack CoreTrackLocked(int32_t device);
    void RememberPlaceLocked(const Ticket& place, const ArrowEnd& end);
    TraceSlice SinceStart(const TraceSlice& slice) const;

    inline static std::atomic<bool> on_{false};

    std::atomic<int32_t> owner_{0};  // the process that opened it; a fork's child writes nothing
    std::atomic<uint64_t> lost_{0};  // events
    std::mutex mutex_;
    TraceFile file_;
    int64_t start_ = 0;
    uint64_t arrows_ = 0;
    std::vector<bool> namedDevices_;
    std::vector<int32_t> coreThreads_;                           // how many each device has had
    std::map<std::pair<int32_t, int32_t>, int32_t> coreTracks_;  // by device and thread
    std::unordered_map<Ticket, ArrowEnd, PlaceHash, SamePlace> places_;  // where tasks ended
    std::deque<Ticket> placeOrder_;                                      // oldest first
};

/// A stream's part of the trace: a slice for each task and each wait. It belongs to the claimant,
/// as the front record does. An enqueuer touches it, under the stream's lock, when its task has
/// just become the front. The caller checks whether there is a trace (Trace::On).
class StreamTrace {
 public:
    /// Begins the trace of the stream's new life. Its track is made when the first event is added.
    void Open(int32_t device, int32_t stream, bool ofModel);

    /// Notes that a task has become the stream's oldest.
    void BecameOldest();

    /// Begin and End are called around a task that is run, or at the end of a wait. `code` is the
    /// result of the task.
    void Begin(const Ticket& place);
    void End(const Task& task, int32_t code) noexcept;

    /// Adds a task that is skipped, or a wait that is given up.
    void Skipped(const Task& task, const Ticket& place) noexcept;

 private:
    TraceTrack Track();

    int32_t device_ = 0;
    int32_t stream_ = 0;
    bool ofModel_ = false;
    bool hasTrack_ = false;
    TraceTrack track_;
    Ticket place_;             // the place of the task that has begun
    int64_t begin_ = 0;        // when the task began
    int64_t oldestSince_ = 0;  // when the front became the oldest task
};

/// A task of a stream, as the trace names it.
struct TracedTask {
    int32_t stream = -1;  // none
    uint64_t sequence = 0;
};

/// The kernel that the calling thread has begun to run, as the threads that play its cores see it.
struct TracedKernel {
    bool traced = false;
    int32_t device = 0;
    const char* call = nullptr;  // static text
    TracedTask task;

    static TracedKernel Now(int32_t device, const char* call);
};

/// Times the cores of one phase that the calling thread plays one after another, if the kernel is
/// traced.
class CoreSlice {
 public:
    CoreSlice(const TracedKernel& kernel, int32_t phase, int32_t first, int32_t count);
    ~CoreSlice() {
        if (kernel_.traced) {
            Add();
        }
    }
    CoreSlice(const CoreSlice&) = delete;
    CoreSlice& operator=(const CoreSlice&) = delete;

 private:
    void Add() const noexcept;

    const TracedKernel& kernel_;
    const int32_t phase_;
    const int32_t first_;  // in the order in which the cores are played
    const int32_t count_;
    const int64_t begin_;
};

}  // namespace advstep
