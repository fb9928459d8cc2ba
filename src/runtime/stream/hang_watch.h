// SPDX-License-Identifier: Apache-2.0
// The thread that looks for deadlocks and for calls that wait too long.

#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "src/runtime/stream/wait_graph.h"

namespace advstep {

/// Looks at the threads and streams of the process while threads are inside the library. It tells
/// at once when some can never move again (ADVANCE_STEP_SANITIZE=sync), and after ADVANCE_STEP_HANG
/// what each waiting call waits for. mutex_ guards the start and the stop; the rest belongs to the
/// thread. A deadlocked process stays so, unless findings end it: no code of a call says that what
/// it waits for will never come.
class HangWatch {
 public:
    /// Watches from now on, if there is anything to look for, and lets streams note who queues
    /// their work: under any check of the sanitizer. `hangSeconds` is 0 for no such limit.
    void Start(int32_t hangSeconds);
    /// Ends the thread. Nothing is watched any more.
    void Stop();

 private:
    void ThreadMain();
    /// Looks at everything. No value: something moved meanwhile.
    std::optional<WaitSnapshot> Look(uint64_t* moves);
    static uint64_t ReadStreams(WaitSnapshot* all);
    static void ReadThreads(WaitSnapshot* all);
    void TellDeadlock(const WaitSnapshot& all);
    void TellHang(const WaitSnapshot& all);

    std::mutex mutex_;
    std::thread thread_;
    bool deadlocks_ = false;
    int32_t hangSeconds_ = 0;
    std::atomic<bool> stop_{false};
    std::set<uint64_t> told_;  // the waits that were told
};

HangWatch& TheHangWatch();

}  // namespace advstep
