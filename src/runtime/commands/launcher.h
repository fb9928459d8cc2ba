// SPDX-License-Identifier: Apache-2.0
// The layer between executors and streams, which tests can replace.

#pragma once

#include "src/base/status.h"
#include "src/runtime/device/kernel_launch.h"
#include "src/runtime/stream/stream.h"

namespace advstep {

class HostWork;
struct HostWorkLaunch;

/// The layer below the executor, which queues planned launches on streams. Tests replace it to see
/// the launches of phase two.
class Launcher {
 public:
    virtual ~Launcher() = default;

    /// Codes as Stream::Check.
    virtual Status CheckStream(const StreamRef& stream);

    /// Queues a copy of the launch and its payload. `work` has the size of the KernelTask and lists
    /// the memory that the launch uses. Codes as Stream::Enqueue.
    virtual Status Launch(const StreamRef& stream, const PlannedLaunch& launch, const void* payload,
                          const Work& work);

    /// Queues a run of host work as a launch of its device, and takes over the caller's share, also
    /// on failure. Codes as Stream::Enqueue.
    virtual Status LaunchHost(const StreamRef& stream, HostWork* work,
                              const HostWorkLaunch& launch);
};

Launcher& TheLauncher();

/// The first step of every launch. 107022: an abort of the device is under way. The code of
/// advstepFailLaunch: the launch is made to fail at the call. If it is made to fail in the stream,
/// *faultCode is set, for FailWhenRun.
Status BeginLaunch(const Device& device, int32_t* faultCode);

/// 107022: an abort of the device is under way. `what` names what the call begins.
Status RefuseDuringAbort(const Device& device, const char* what);

/// The failure of a launch that advstepFailLaunch lets fail in its stream.
Status MadeToFail(const char* call, int32_t code);

/// Makes a queued launch fail with the code when it is run.
void FailWhenRun(KernelTask* task, int32_t code);

/// Installs another launcher (null: the real one) and returns the earlier one. Not called while
/// another thread is in phase two.
Launcher* ExchangeLauncher(Launcher* launcher);

}  // namespace advstep
