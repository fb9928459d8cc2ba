// SPDX-License-Identifier: Apache-2.0
// Works off queues of transfers.

#include "src/adxl/async_transfers.h"

#include <system_error>
#include <utility>

#include "acl/acl.h"
#include "src/base/library_thread.h"

namespace advstep::transfer {
namespace {

adxl::TransferStatus StatusOf(const Outcome& outcome) {
    if (outcome.Ok()) {
        return adxl::TransferStatus::COMPLETED;
    }
    aclAppLog(ACL_ERROR, "AdxlEngine::TransferAsync", "libllm_datadist", 0, "%s",
              outcome.text.c_str());
    return outcome.status == adxl::TIMEOUT ? adxl::TransferStatus::TIMEOUT
                                           : adxl::TransferStatus::FAILED;
}

Outcome RunJob(const AsyncTransfers::Job& job) noexcept {
    try {
        return job();
    } catch (const std::exception&) {
        Outcome outcome;
        outcome.status = adxl::RESOURCE_EXHAUSTED;
        return outcome;
    }
}

}  // namespace

Outcome AsyncTransfers::Submit(const std::string& remote, Job job, adxl::TransferReq* req) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (isStopped_) {
        return Fail(adxl::FAILED, "the engine has ended");
    }
    if (states_.size() >= kMostAsync) {
        return Fail(adxl::RESOURCE_EXHAUSTED,
                    "{} transfers are queued, or have ended without a GetTransferStatus that said "
                    "so; expected fewer",
                    kMostAsync);
    }
    Queue& queue = queues_[remote];
    if (!queue.thread.joinable()) {
        try {
            queue.thread = StartThread("advstep-adxl-as", [this, &queue] { Work(queue); });
        } catch (const std::system_error& error) {
            return Fail(adxl::RESOURCE_EXHAUSTED, "the host has no thread ({})", error.what());
        }
    }
    const uint64_t number = last_ + 1;
    queue.jobs.emplace_back(number, std::move(job));
    try {
        states_.emplace(number, adxl::TransferStatus::WAITING);
    } catch (...) {
        queue.jobs.pop_back();
        throw;
    }
    last_ = number;
    *req = reinterpret_cast<adxl::TransferReq>(number);
    changed_.notify_all();
    return {};
}

Outcome AsyncTransfers::Status(adxl::TransferReq req, adxl::TransferStatus* status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = states_.find(reinterpret_cast<uint64_t>(req));
    if (found == states_.end()) {
        return Fail(adxl::PARAM_INVALID,
                    "req is {}, no transfer of this engine; expected one of TransferAsync that has "
                    "not ended when it was last asked for",
                    req);
    }
    *status = found->second;
    if (*status != adxl::TransferStatus::WAITING) {
        states_.erase(found);
    }
    return {};
}

void AsyncTransfers::Stop() noexcept {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        isStopped_ = true;
        changed_.notify_all();
    }
    // No queue is added any more.
    for (auto& [remote, queue] : queues_) {
        if (queue.thread.joinable()) {
            queue.thread.join();
        }
    }
}

void AsyncTransfers::Work(Queue& queue) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return isStopped_ || !queue.jobs.empty(); });
        if (isStopped_) {
            return;
        }
        const auto [number, job] = std::move(queue.jobs.front());
        queue.jobs.pop_front();
        lock.unlock();
        const adxl::TransferStatus status = StatusOf(RunJob(job));
        lock.lock();
        states_[number] = status;  // an entry that is there until its end is asked for
    }
}

}  // namespace advstep::transfer
