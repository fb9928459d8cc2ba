#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "src/runtime/kept_memory.h"

namespace advstep {

/// OS threads that play the simulated cores of one device together with the thread that runs the
/// launch. Cores are claimed in contiguous chunks; the launching thread finishes what nobody has
/// claimed, so busy or slow pool threads never hold a launch up.
///
/// mutex_ guards the list of jobs and each job's `helpers`. A job lives on its launcher's stack: it
/// is reachable only through the list, and the launcher leaves when no helper is in it.
class CorePool {
 public:
    /// `threads` >= 1, the launching thread included.
    explicit CorePool(int32_t threads) : threads_(threads) {}
    ~CorePool();

    /// Calls body(begin, end) for chunks that cover [0, count) once each, on up to `threads`
    /// threads, and returns when all have ended. body must not throw. May be called by several
    /// threads at a time.
    void Run(int32_t count, const std::function<void(int32_t begin, int32_t end)>& body);

    /// Ends the pool's threads and frees what is kept; no launch is under way. The next Run starts
    /// new ones.
    void Stop();

    int32_t threads() const { return threads_; }

    /// What the cores' unified buffers keep between the phases of a launch.
    KeptMemory& kept() { return kept_; }

 private:
    struct Job {
        const std::function<void(int32_t, int32_t)>* body = nullptr;
        int32_t count = 0;
        int32_t chunk = 0;
        std::atomic<int32_t> next{0};
        int32_t helpers = 0;
    };

    static void RunChunks(Job* job);
    void StartThreadsLocked();
    void ThreadMain();

    const int32_t threads_;
    KeptMemory kept_;
    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable done_;
    std::vector<Job*> jobs_;
    std::vector<std::thread> pool_;
    bool stop_ = false;
};

}  // namespace advstep
