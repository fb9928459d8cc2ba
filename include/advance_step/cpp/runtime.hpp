/// Devices, streams and events as objects. Part of advance_step.hpp, which has the rules.
#ifndef ADVSTEP_ADVANCE_STEP_CPP_RUNTIME_HPP_
#define ADVSTEP_ADVANCE_STEP_CPP_RUNTIME_HPP_

#include <cstdint>
#include <utility>

#include "acl/acl_rt.h"
#include "advance_step/counters.h"
#include "advance_step/cpp/result.hpp"

namespace advance_step {

class Event;

/// One use of a device. While it lives, the thread that opened it has the device's context current;
/// the last one to go resets the device.
class Device {
 public:
    /// No device.
    Device() noexcept = default;
    /// Takes the use over.
    Device(Device&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
    /// Takes the use over; what was held before is given back.
    Device& operator=(Device&& other) noexcept {
        Device taken(std::move(other));
        std::swap(id_, taken.id_);
        return *this;
    }
    /// aclrtResetDevice.
    ~Device() {
        if (id_ >= 0) {
            static_cast<void>(aclrtResetDevice(id_));
        }
    }

    /// aclrtSetDevice.
    static Result<Device> TryOpen(int32_t id = 0) {
        const int code = aclrtSetDevice(id);
        return code == ACL_SUCCESS ? Result<Device>(Device(id)) : detail::LastError(code);
    }
    /// aclrtSynchronizeDevice, of the current device.
    Result<void> TrySynchronize() const { return detail::ToResult(aclrtSynchronizeDevice()); }
    /// advstepReadCounters.
    Result<AdvStepCounters> TryCounters() const {
        AdvStepCounters counters{};
        const int code = advstepReadCounters(id_, &counters);
        return detail::ToResult(code, counters);
    }

    /// The number it was opened with; -1 of an empty one.
    int32_t Id() const noexcept { return id_; }

#if ADVSTEP_CPP_EXCEPTIONS
    /// As TryOpen. @throws Error
    static Device Open(int32_t id = 0) { return TryOpen(id).value(); }
    /// As TrySynchronize. @throws Error
    void Synchronize() const { TrySynchronize().value(); }
    /// As TryCounters. @throws Error
    AdvStepCounters Counters() const { return TryCounters().value(); }
#endif

 private:
    explicit Device(int32_t id) noexcept : id_(id) {}

    int32_t id_ = -1;
};

/// An in-order queue of device work. An empty one stands for the default stream of the current
/// context.
class Stream {
 public:
    /// The default stream.
    Stream() noexcept = default;

    /// aclrtCreateStream.
    static Result<Stream> TryCreate() {
        aclrtStream stream = nullptr;
        const int code = aclrtCreateStream(&stream);
        return detail::ToResult(code, Stream(stream));
    }
    /// aclrtSynchronizeStream: also tells what has failed in the stream.
    Result<void> TrySynchronize() const { return detail::ToResult(aclrtSynchronizeStream(Get())); }
    /// aclrtStreamQuery: whether everything queued so far has run.
    Result<bool> TryIsDone() const {
        aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
        const int code = aclrtStreamQuery(Get(), &status);
        return detail::ToResult(code, status == ACL_STREAM_STATUS_COMPLETE);
    }
    /// aclrtStreamWaitEvent.
    inline Result<void> TryWait(const Event& event) const;

    /// The handle, for calls of the C interface; the object keeps it.
    aclrtStream Get() const noexcept { return handle_.get(); }

#if ADVSTEP_CPP_EXCEPTIONS
    /// As TryCreate. @throws Error
    static Stream Create() { return TryCreate().value(); }
    /// As TrySynchronize. @throws Error
    void Synchronize() const { TrySynchronize().value(); }
    /// As TryIsDone. @throws Error
    bool IsDone() const { return TryIsDone().value(); }
    /// As TryWait. @throws Error
    void Wait(const Event& event) const { TryWait(event).value(); }
#endif

 private:
    explicit Stream(aclrtStream stream) noexcept : handle_(stream) {}

    detail::Owned<void, aclrtDestroyStream> handle_;
};

/// Where a function takes a stream: a Stream, or a handle of the C interface. Owns nothing.
class StreamRef {
 public:
    /// The Stream must live until the function returns.
    StreamRef(const Stream& stream) noexcept : handle_(stream.Get()) {}
    /// NULL is the default stream.
    explicit StreamRef(aclrtStream stream) noexcept : handle_(stream) {}
    /// The handle.
    aclrtStream Get() const noexcept { return handle_; }

 private:
    aclrtStream handle_;
};

/// A mark in a stream, with its time.
class Event {
 public:
    /// No event.
    Event() noexcept = default;

    /// aclrtCreateEvent.
    static Result<Event> TryCreate() {
        aclrtEvent event = nullptr;
        const int code = aclrtCreateEvent(&event);
        return detail::ToResult(code, Event(event));
    }
    /// aclrtRecordEvent.
    Result<void> TryRecord(StreamRef stream) const {
        return detail::ToResult(aclrtRecordEvent(Get(), stream.Get()));
    }
    /// aclrtSynchronizeEvent.
    Result<void> TrySynchronize() const { return detail::ToResult(aclrtSynchronizeEvent(Get())); }
    /// aclrtQueryEventStatus: whether the latest record has been reached.
    Result<bool> TryIsDone() const {
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        const int code = aclrtQueryEventStatus(Get(), &status);
        return detail::ToResult(code, status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    }
    /// aclrtEventElapsedTime: milliseconds from the start's record to this one's.
    Result<float> TryMillisecondsSince(const Event& start) const {
        float milliseconds = 0;
        const int code = aclrtEventElapsedTime(&milliseconds, start.Get(), Get());
        return detail::ToResult(code, milliseconds);
    }

    /// The handle, for calls of the C interface; the object keeps it.
    aclrtEvent Get() const noexcept { return handle_.get(); }

#if ADVSTEP_CPP_EXCEPTIONS
    /// As TryCreate. @throws Error
    static Event Create() { return TryCreate().value(); }
    /// As TryRecord. @throws Error
    void Record(StreamRef stream) const { TryRecord(stream).value(); }
    /// As TrySynchronize. @throws Error
    void Synchronize() const { TrySynchronize().value(); }
    /// As TryIsDone. @throws Error
    bool IsDone() const { return TryIsDone().value(); }
    /// As TryMillisecondsSince. @throws Error
    float MillisecondsSince(const Event& start) const {
        return TryMillisecondsSince(start).value();
    }
#endif

 private:
    explicit Event(aclrtEvent event) noexcept : handle_(event) {}

    detail::Owned<void, aclrtDestroyEvent> handle_;
};

inline Result<void> Stream::TryWait(const Event& event) const {
    return detail::ToResult(aclrtStreamWaitEvent(Get(), event.Get()));
}

}  // namespace advance_step

#endif  /* ADVSTEP_ADVANCE_STEP_CPP_RUNTIME_HPP_ */
