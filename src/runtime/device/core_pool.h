// SPDX-License-Identifier: Apache-2.0
// The threads that play the simulated cores of a device, and the memory that cores keep.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace advstep {

/// One piece of memory in which the unified buffers of a device's cores keep data from one phase of
/// a launch to the next. One launch at a time has it. A release store of `taken_` gives it back,
/// and the acquire exchange of the next launch takes it, so the members need no lock.
class PhaseMemory {
 public:
    PhaseMemory();

    /// Enough for 32 million rows. A launch that would keep more keeps this much. Real cores have
    /// less, and would read the block table again, which costs a host's memory four times as much.
    static constexpr int64_t kMostBytes = int64_t{256} << 20;

    class Lease {
     public:
        Lease(PhaseMemory* owner, int64_t bytes) : owner_(owner), bytes_(bytes) {}
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        ~Lease() {
            if (owner_ != nullptr) {
                owner_->taken_.store(false, std::memory_order_release);
            }
        }
        unsigned char* data() const { return owner_ != nullptr ? owner_->memory_.get() : nullptr; }
        int64_t bytes() const { return bytes_; }

     private:
        PhaseMemory* owner_;
        int64_t bytes_;
    };

    /// Lends up to `bytes` bytes until the end of the lease. The lease is empty while another
    /// launch has the memory, or when the host is out of memory.
    Lease Borrow(int64_t bytes);

    /// Gives the memory back to the host. No lease is open.
    void Free();

 private:
    std::atomic<bool> taken_{false};
    std::unique_ptr<unsigned char, void (*)(unsigned char*)> memory_;  // grows; stays until Free
    int64_t size_ = 0;
};

/// OS threads that play the simulated cores of one device together with the thread that runs the
/// launch. Cores are claimed in contiguous chunks. The launching thread plays the cores that no
/// other thread has claimed, so busy or slow pool threads never hold up a launch.
///
/// mutex_ guards the list of jobs and each job's `helpers`. A job lives on its launcher's stack: it
/// is reachable only through the list, and the launcher returns only when no helper is in the job.
/// A thread polls for a moment before it sleeps: the phases of a launch follow one another closely,
/// and waking a thread costs about as much as that moment.
class CorePool {
 public:
    /// `threads` >= 1, the launching thread included.
    explicit CorePool(int32_t threads) : threads_(threads) {}
    ~CorePool();

    /// Calls body(begin, end) for chunks that cover [0, count) once each, on up to `threads`
    /// threads, and returns when all have ended. body must not throw. May be called by several
    /// threads at a time.
    template <typename Body>
    void Run(int32_t count, const Body& body) {
        RunBody(count, {[](const void* target, int32_t begin, int32_t end) {
                            (*static_cast<const Body*>(target))(begin, end);
                        },
                        &body});
    }

    /// Ends the pool's threads and frees the memory of phases. No launch is under way. The next Run
    /// starts new threads.
    void Stop();

    int32_t threads() const { return threads_; }

    /// Returns the memory in which the unified buffers keep data between the phases of a launch.
    PhaseMemory& phaseMemory() { return phaseMemory_; }

 private:
    /// A reference to the body that Run was given. The body outlives the reference.
    struct BodyRef {
        void (*call)(const void* target, int32_t begin, int32_t end) = nullptr;
        const void* target = nullptr;
    };
    struct Job {
        BodyRef body;
        int32_t count = 0;
        int32_t chunk = 0;
        std::atomic<int32_t> next{0};
        std::atomic<int32_t> helpers{0};  // changes under mutex_ only
    };

    static void RunChunks(Job* job);
    void RunBody(int32_t count, BodyRef body);
    void StartThreadsLocked();
    void ThreadMain();

    const int32_t threads_;
    PhaseMemory phaseMemory_;
    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable done_;
    std::vector<Job*> jobs_;
    std::atomic<uint64_t> posted_{0};  // jobs ever put into the list; changes under mutex_ only
    std::vector<std::thread> pool_;
    bool stop_ = false;
};

}  // namespace advstep
