// SPDX-License-Identifier: Apache-2.0
// Who waits for whom among threads and streams, which of them can never move again, and why in
// words.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/base/thread_state.h"
#include "src/runtime/stream/stream_view.h"
#include "src/runtime/task/thread_watch.h"

namespace advstep {

/// A thread of the process at one moment.
struct ThreadView {
    uint64_t pthread = 0;            // 0: the thread is not inside the library
    bool idle = false;               // a thread of the library that does nothing
    std::vector<ThreadDoing> doing;  // the innermost last; empty: it is outside the library
    ThreadBlock block;

    /// Returns the innermost wait for a stream or for a callback, or null.
    const ThreadDoing* Wait() const;
};

/// All threads of the process, and all streams with unfinished work.
struct WaitSnapshot {
    bool allThreads = false;  // the kernel has told which threads there are
    std::map<pid_t, ThreadView> threads;
    std::map<const Stream*, StreamView> streams;
    WaitClock::time_point now;
};

/// Finds those that never move again. A thread or a stream is stuck if all that could let it move
/// is stuck. Whatever is not known for sure moves.
class WaitGraph {
 public:
    explicit WaitGraph(const WaitSnapshot& snapshot);

    bool IsStuck(pid_t thread) const { return threads_.count(thread) != 0; }
    /// Returns whether a stuck thread that runs a function of the program waits for a mutex of a
    /// thread that waits for a stream.
    bool LocksMeet() const;

    /// Tells in words why the thread waits, link by link.
    std::vector<std::string> Explain(pid_t thread) const;

 private:
    /// What a thread or a stream needs to move.
    struct Need {
        enum class Kind { kNothing, kThread, kStream, kProcess };
        Kind kind = Kind::kNothing;
        pid_t thread = 0;
        const Stream* stream = nullptr;
    };

    Need NeedOf(const ThreadView& thread) const;
    Need NeedOf(const StreamView& stream) const;
    Need NeedOfBlock(const ThreadView& thread) const;
    Need NeedOfPlace(const Ticket& place) const;
    Need NeedOfThread(uint64_t pthread) const;
    bool IsMet(const Need& need) const;
    bool AnyMoves() const;
    std::string Words(pid_t number, const ThreadView& thread) const;
    std::string Words(const StreamView& stream) const;
    std::string NameOf(const Stream* stream) const;
    double SecondsSince(WaitClock::time_point time) const;

    const WaitSnapshot& all_;
    std::set<pid_t> threads_;          // that are stuck
    std::set<const Stream*> streams_;  // that are stuck
};

}  // namespace advstep
