// SPDX-License-Identifier: Apache-2.0
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

/// One use of a device. It makes the device's context current in the thread that opens it. The
/// destruction of the last Device resets the device.
class Device {
 public:
    /// An empty object, without a device.
    Device() noexcept = default;
    /// Takes ownership of the use.
    Device(Device&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
    /// Takes ownership of the use, and ends the use that this object owned before.
    Device& operator=(Device&& other) noexcept {
        Device taken(std::move(other));
        std::swap(id_, taken.id_);
        return *this;
    }
    /// Calls aclrtResetDevice.
    ~Device() {
        if (id_ >= 0) {
            static_cast<void>(aclrtResetDevice(id_));
        }
    }

    /// Calls aclrtSetDevice.
    static Result<Device> TryOpen(int32_t id = 0) {
        const int code = aclrtSetDevice(id);
        return code == ACL_SUCCESS ? Result<Device>(Device(id)) : detail::LastError(code);
    }
    /// Calls aclrtSynchronizeDevice, which waits for the device of the current context.
    Result<void> TrySynchronize() const { return detail::ToResult(aclrtSynchronizeDevice()); }
    /// Calls advstepReadCounters.
    Result<AdvStepCounters> TryCounters() const {
        AdvStepCounters counters{};
        const int code = advstepReadCounters(id_, &counters);
        return detail::ToResult(code, counters);
    }
    /// Calls advstepReadCounter.
    Result<uint64_t> TryCounter(const char* name) const {
        uint64_t value = 0;
        const int code = advstepReadCounter(id_, name, &value);
        return detail::ToResult(code, value);
    }

    /// The device's number; -1 for an empty object.
    int32_t Id() const noexcept { return id_; }

#if ADVSTEP_CPP_EXCEPTIONS
    /// As TryOpen. @throws Error
    static Device Open(int32_t id = 0) { return TryOpen(id).value(); }
    /// As TrySynchronize. @throws Error
    void Synchronize() const { TrySynchronize().value(); }
    /// As TryCounters. @throws Error
    AdvStepCounters Counters() const { return TryCounters().value(); }
    /// As TryCounter. @throws Error
    uint64_t Counter(const char* name) const { return TryCounter(name).value(); }
#endif

 private:
    explicit Device(int32_t id) noexcept : id_(id) {}

    int32_t id_ = -1;
};

/// An in-order queue of device work. An empty object denotes the default stream of the current
/// context.
class Stream {
 public:
    /// The default stream.
    Stream() noexcept = default;

    /// Calls aclrtCreateStream.
    static Result<Stream> TryCreate() {
        aclrtStream stream = nullptr;
        const int code = aclrtCreateStream(&stream);
        return detail::ToResult(code, Stream(stream));
    }
    /// Calls aclrtSynchronizeStream, which also reports a failure in the stream.
    Result<void> TrySynchronize() const { return detail::ToResult(aclrtSynchronizeStream(Get())); }
    /// Calls aclrtStreamQuery: returns whether all work queued so far has run.
    Result<bool> TryIsDone() const {
        aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
        const int code = aclrtStreamQuery(Get(), &status);
        return detail::ToResult(code, status == ACL_STREAM_STATUS_COMPLETE);
    }
    /// Calls aclrtStreamWaitEvent.
    inline Result<void> TryWait(const Event& event) const;

    /// The handle, for calls of the C interface. The object still owns it.
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

/// A stream as a function's argument: a Stream, or a handle of the C interface. It owns nothing.
class StreamRef {
 public:
    /// The Stream must live until the function returns.
    StreamRef(const Stream& stream) noexcept : handle_(stream.Get()) {}
    /// NULL denotes the default stream.
    explicit StreamRef(aclrtStream stream) noexcept : handle_(stream) {}
    /// The handle.
    aclrtStream Get() const noexcept { return handle_; }

 private:
    aclrtStream handle_;
};

/// An event with timing.
class Event {
 public:
    /// An empty object, without an event.
    Event() noexcept = default;

    /// Calls aclrtCreateEvent.
    static Result<Event> TryCreate() {
        aclrtEvent event = nullptr;
        const int code = aclrtCreateEvent(&event);
        return detail::ToResult(code, Event(event));
    }
    /// Calls aclrtRecordEvent.
    Result<void> TryRecord(StreamRef stream) const {
        return detail::ToResult(aclrtRecordEvent(Get(), stream.Get()));
    }
    /// Calls aclrtSynchronizeEvent.
    Result<void> TrySynchronize() const { return detail::ToResult(aclrtSynchronizeEvent(Get())); }
    /// Calls aclrtQueryEventStatus: returns whether the latest record is complete.
    Result<bool> TryIsDone() const {
        aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        const int code = aclrtQueryEventStatus(Get(), &status);
        return detail::ToResult(code, status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    }
    /// Calls aclrtEventElapsedTime: returns the milliseconds from start's record to the record of
    /// this event.
    Result<float> TryMillisecondsSince(const Event& start) const {
        float milliseconds = 0;
        const int code = aclrtEventElapsedTime(&milliseconds, start.Get(), Get());
        return detail::ToResult(code, milliseconds);
    }

    /// The handle, for calls of the C interface. The object still owns it.
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

#endif /* ADVSTEP_ADVANCE_STEP_CPP_RUNTIME_HPP_ */
