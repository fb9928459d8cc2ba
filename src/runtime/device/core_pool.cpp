// SPDX-License-Identifier: Apache-2.0
// Shares the cores of a launch over threads, chunk by chunk, and lends the memory of phases.

#include "src/runtime/device/core_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>

#include "src/base/library_thread.h"
#include "src/base/log.h"
#include "src/base/no_cancellation.h"

namespace advstep {
namespace {

// Each thread has several chunks: a thread that comes late or is slow leaves its share to the
// others, and all threads end at about the same time.
constexpr int32_t kChunksPerThread = 16;

// Waking a sleeping thread costs the waker 4 to 12 us, and the thread runs 10 to 30 us after the
// call began. A thread that looks for work sees it within 1 us
// (docs/internals/decisions/0003-streams.md).
constexpr std::chrono::microseconds kMoment(15);

void Relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// Polls the condition until it holds, for kMoment at most.
template <typename Condition>
void LookFor(const Condition& condition) {
    constexpr int kLooksPerClock = 32;
    const auto end = std::chrono::steady_clock::now() + kMoment;
    do {
        for (int look = 0; look < kLooksPerClock; ++look) {
            if (condition()) {
                return;
            }
            Relax();
        }
    } while (std::chrono::steady_clock::now() < end);
}

// With a hint to use large pages where they fit.
unsigned char* TakeHostMemory(int64_t bytes) {
    constexpr size_t kLarge = size_t{2} << 20;
    constexpr size_t kSmall = 64;  // a line of the caches
    const auto size = static_cast<size_t>(bytes);
    void* memory = nullptr;
    if (posix_memalign(&memory, size >= kLarge ? kLarge : kSmall, size) != 0) {
        return nullptr;
    }
    if (size >= kLarge) {
        (void)madvise(memory, size, MADV_HUGEPAGE);
    }
    return static_cast<unsigned char*>(memory);
}

}  // namespace

CorePool::~CorePool() { Stop(); }

void CorePool::RunChunks(Job* job) {
    for (;;) {
        const int32_t begin = job->next.fetch_add(job->chunk, std::memory_order_relaxed);
        if (begin >= job->count) {
            return;
        }
        job->body.call(job->body.target, begin, std::min(begin + job->chunk, job->count));
    }
}

void CorePool::StartThreadsLocked() {
    try {
        pool_.reserve(static_cast<size_t>(threads_ - 1));  // a started thread must have a place
        while (static_cast<int32_t>(pool_.size()) < threads_ - 1) {
            pool_.push_back(StartThread("advstep-core", [this] { ThreadMain(); }));
        }
    } catch (const std::exception& error) {
        Log(LogLevel::kError, "cannot start a core thread: {}", error.what());
    }
}

void CorePool::RunBody(int32_t count, BodyRef body) {
    Job job;
    job.body = body;
    job.count = count;
    job.chunk = std::max(1, count / (threads_ * kChunksPerThread));
    if (threads_ == 1 || count <= 1) {
        RunChunks(&job);
        return;
    }
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        StartThreadsLocked();
        jobs_.push_back(&job);
        posted_.fetch_add(1, std::memory_order_relaxed);
    }
    work_.notify_all();
    RunChunks(&job);
    LookFor([&] { return job.helpers.load(std::memory_order_relaxed) == 0; });
    // Helpers that are in a chunk still write. Taking mutex_ makes what they wrote visible here.
    std::unique_lock<std::mutex> lock(mutex_);
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
    if (job.helpers != 0) {
        const NoCancellation noCancellation;
        done_.wait(lock, [&] { return job.helpers == 0; });
    }
}

void CorePool::ThreadMain() {
    std::unique_lock<std::mutex> lock(mutex_);
    bool looked = true;  // whether this thread has polled since its last job
    while (!stop_) {
        const auto open = std::find_if(jobs_.begin(), jobs_.end(), [](const Job* job) {
            return job->next.load(std::memory_order_relaxed) < job->count;
        });
        if (open == jobs_.end() && !looked) {
            const uint64_t posted = posted_.load(std::memory_order_relaxed);
            lock.unlock();
            LookFor([&] { return posted_.load(std::memory_order_relaxed) != posted; });
            lock.lock();
            looked = true;
            continue;
        }
        if (open == jobs_.end()) {
            work_.wait(lock);
            continue;
        }
        looked = false;
        Job* const job = *open;
        ++job->helpers;
        lock.unlock();
        RunChunks(job);
        lock.lock();
        if (--job->helpers == 0) {
            done_.notify_all();
        }
    }
}

void CorePool::Stop() {
    const NoCancellation noCancellation;
    std::vector<std::thread> pool;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
        pool.swap(pool_);
    }
    work_.notify_all();
    for (std::thread& thread : pool) {
        thread.join();
    }
    phaseMemory_.Free();
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = false;
}

PhaseMemory::PhaseMemory() : memory_(nullptr, [](unsigned char* memory) { std::free(memory); }) {}

PhaseMemory::Lease PhaseMemory::Borrow(int64_t bytes) {
    if (taken_.exchange(true, std::memory_order_acquire)) {
        return {nullptr, 0};
    }
    const int64_t wanted = std::min(bytes, kMostBytes);
    if (size_ < wanted) {
        memory_.reset();
        memory_.reset(TakeHostMemory(wanted));
        size_ = memory_ != nullptr ? wanted : 0;
    }
    return {this, std::min(wanted, size_)};
}

void PhaseMemory::Free() {
    memory_.reset();
    size_ = 0;
}

}  // namespace advstep
