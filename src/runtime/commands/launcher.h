#pragma once

#include "src/base/status.h"
#include "src/runtime/device/kernel_launch.h"
#include "src/runtime/stream/stream_ref.h"

namespace advstep {

/// The layer below the executor: takes a planned launch to a stream. Tests put one of their own in
/// its place to see what phase two asks for.
class Launcher {
 public:
    virtual ~Launcher() = default;

    /// Codes as Stream::Check.
    virtual Status CheckStream(const StreamRef& stream);

    /// Queues a copy of the launch and its payload. `work` says what memory it uses; its size is
    /// the launch's. Codes as Stream::Enqueue.
    virtual Status Launch(const StreamRef& stream, const KernelLaunch& launch, const void* payload,
                          const Work& work);
};

Launcher& TheLauncher();

/// Puts another launcher in place (null: the real one) and returns the one before. Not while
/// another thread is in phase two.
Launcher* ExchangeLauncher(Launcher* launcher);

}  // namespace advstep
