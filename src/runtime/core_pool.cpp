#include "src/runtime/core_pool.h"

#include <algorithm>
#include <exception>

#include "src/base/log.h"

namespace advstep {
namespace {

// Chunks per thread: a thread that comes late or is slow leaves its share to the others.
constexpr int32_t kChunksPerThread = 4;

}  // namespace

CorePool::~CorePool() { Stop(); }

void CorePool::RunChunks(Job* job) {
    for (;;) {
        const int32_t begin = job->next.fetch_add(job->chunk, std::memory_order_relaxed);
        if (begin >= job->count) {
            return;
        }
        (*job->body)(begin, std::min(begin + job->chunk, job->count));
    }
}

void CorePool::StartThreadsLocked() {
    try {
        while (static_cast<int32_t>(pool_.size()) < threads_ - 1) {
            pool_.emplace_back([this] { ThreadMain(); });
        }
    } catch (const std::exception& error) {
        Log(LogLevel::kError, "cannot start a core thread: {}", error.what());
    }
}

void CorePool::Run(int32_t count, const std::function<void(int32_t, int32_t)>& body) {
    Job job;
    job.body = &body;
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
    }
    work_.notify_all();
    RunChunks(&job);
    // Helpers that are in a chunk still write; what they wrote is seen through mutex_.
    std::unique_lock<std::mutex> lock(mutex_);
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
    done_.wait(lock, [&] { return job.helpers == 0; });
}

void CorePool::ThreadMain() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stop_) {
        const auto open = std::find_if(jobs_.begin(), jobs_.end(), [](const Job* job) {
            return job->next.load(std::memory_order_relaxed) < job->count;
        });
        if (open == jobs_.end()) {
            work_.wait(lock);
            continue;
        }
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
    kept_.Free();
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = false;
}

}  // namespace advstep
