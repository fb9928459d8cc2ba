// SPDX-License-Identifier: Apache-2.0
// Transfers that run behind their caller.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "src/adxl/outcome.h"

namespace advstep::transfer {

constexpr size_t kMostAsync = 4096;  // transfers whose ends nobody has asked for

/// Transfers in queues, one for each remote engine, which a thread of its own works off in order.
class AsyncTransfers {
 public:
    using Job = std::function<Outcome()>;

    ~AsyncTransfers() { Stop(); }

    Outcome Submit(const std::string& remote, Job job, adxl::TransferReq* req);
    Outcome Status(adxl::TransferReq req, adxl::TransferStatus* status);
    /// Drops what has not begun, and waits for the rest, which the caller lets fail.
    void Stop() noexcept;

 private:
    struct Queue {
        std::deque<std::pair<uint64_t, Job>> jobs;
        std::thread thread;
    };

    void Work(Queue& queue);

    // Guards all members; not held while a job runs.
    std::mutex mutex_;
    std::condition_variable changed_;
    bool isStopped_ = false;
    std::map<std::string, Queue> queues_;  // by the remote engine; a queue stays
    std::map<uint64_t, adxl::TransferStatus> states_;
    uint64_t last_ = 0;
};

}  // namespace advstep::transfer
