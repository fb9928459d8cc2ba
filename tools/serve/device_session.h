// SPDX-License-Identifier: Apache-2.0
// The device as C++ objects: every return code is checked, everything is given back in reverse.

#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "acl/acl.h"

namespace serve {

/// A call of the acl, aclrt or aclnn interface that failed; what() has the call, code and message.
class AclError : public std::runtime_error {
 public:
    explicit AclError(const std::string& what, int code = ACL_ERROR_FAILURE)
        : std::runtime_error(what), code_(code) {}

    int Code() const { return code_; }

 private:
    int code_;
};

/// Throws AclError unless code is 0.
void Check(int code, const char* call);

/// For destructors, which must not throw: writes a failure to standard error instead.
void Report(int code, const char* call) noexcept;

/// The initialised runtime with device 0 as the thread's device.
class DeviceSession {
 public:
    DeviceSession();
    ~DeviceSession();
    DeviceSession(DeviceSession&&) = delete;
};

class Stream {
 public:
    Stream();
    ~Stream();  // waits for what is pending
    Stream(Stream&&) = delete;

    aclrtStream Handle() const { return stream_; }
    void Copy(void* dst, size_t room, const void* src, size_t bytes, aclrtMemcpyKind kind);
    /// args must live until the stream has run the kernel, name for ever. The name is that of the
    /// kernel in a trace.
    void Launch(aclrtHostFunc kernel, void* args, const char* name);
    void Synchronize();
    /// Runs, in a trace of the device, the kernel "end of run", the last one of a run.
    void EndTrace();

 private:
    aclrtStream stream_ = nullptr;
    bool named_;  // kernels are host operators
};

/// The file of ADVANCE_STEP_TRACE; empty: there is no trace.
std::string DeviceTracePath();

/// For the end of a session whose last stream has had EndTrace. The library goes on without a trace
/// when the disk is full, and logs it; the file is valid JSON all the same.
/// Tells that the file lacks the end of the run.
/// @return  whether it has it, or is none that can be read again, as a pipe
bool DeviceTraceIsWhole();

/// An event with timing.
class Event {
 public:
    Event();
    ~Event();
    Event(Event&&) = delete;

    void Record(Stream& stream);
    /// Both events must have completed.
    static double SecondsBetween(const Event& start, const Event& end);

 private:
    aclrtEvent event_ = nullptr;
};

}  // namespace serve
