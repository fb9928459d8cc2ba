// SPDX-License-Identifier: Apache-2.0
// The streams of "npu" tensors as the emulated runtime knows them, and its calls.

#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "advance_step/host_operator.h"

namespace advstep_torch {

constexpr c10::DeviceType kNpu = c10::DeviceType::PrivateUse1;

/// The calls of the runtime. The extension is not linked to it, because a process has one already.
struct Runtime {
    int (*captureInfo)(void* stream, int* status, void** model) = nullptr;
    int (*query)(void* stream, int* status) = nullptr;
    int (*synchronize)(void* stream) = nullptr;
    int (*launch)(void* stream, const AdvStepHostOperator* operation) = nullptr;
    int (*launchShort)(void* stream, const AdvStepHostOperator* operation) = nullptr;
    int (*zeroMemory)(void* address, size_t bytes) = nullptr;
    const char* (*message)() = nullptr;
};

/// The settings of the way in which operators run.
struct Settings {
    bool queueAlways = false;  // also where nothing is pending, which finds races
    bool blocking = false;     // ASCEND_LAUNCH_BLOCKING=1
    bool tellsRuns = false;    // the sanitizer gets a task for what runs at once
};

extern Runtime runtime;
extern Settings settings;

/// Raises the runtime's message, or `what` if it has none, for a code that is not 0.
void Check(int code, const char* what);

enum class StreamState { kIdle, kPending, kRecording };

/// The current stream of a device.
class CurrentStream {
 public:
    explicit CurrentStream(c10::Device device);

    void* handle() const { return handle_; }

    StreamState State() const;

    /// Returns the model that the stream is captured into, or null.
    void* Model() const;

    /// Waits, and raises the failure of the stream, if there is one.
    void Wait() const { stream_.synchronize(); }

    /// To be called before memory that is new is written at once: another thread may have queued
    /// work since the stream was idle, and freed memory that this work uses.
    void WaitForOthers() const;

    /// Queues a task that does nothing and has these uses, for the sanitizer. `name` lives as long
    /// as the process.
    void QueueMark(const char* name, const std::vector<AdvStepMemoryRange>& ranges) const;

 private:
    c10::Stream stream_;
    void* handle_;
};

}  // namespace advstep_torch
