// SPDX-License-Identifier: Apache-2.0
// Collectives under way: the calls of Gloo they consist of, and the Work that their caller gets.

#pragma once

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

namespace advstep_torch {

/// One collective. Gloo's threads see views, which own no memory; the "npu" tensors here own it.
/// Everything but the private members is set before the first part begins to be followed.
struct Collective {
    std::string name;
    std::vector<c10::intrusive_ptr<c10d::Work>> parts;  // Gloo's
    std::vector<at::Tensor> tensors;
    std::vector<at::Tensor> outputs;
    std::vector<std::function<void()>> after;  // on Gloo's thread: neither Python nor the device
    // The future of `outputs`. It has no devices, because the memory is written when it completes.
    // Point to point has no future, as with Gloo.
    c10::intrusive_ptr<c10::ivalue::Future> future;

    static void Follow(const std::shared_ptr<Collective>& self);

    /// Returns a future with the devices of the tensors. torch orders the work that its callbacks
    /// queue before later work of the thread that waits for it.
    c10::intrusive_ptr<c10::ivalue::Future> FutureOfDevices() const;

    /// Returns whether Gloo works on nothing of it any more.
    bool Ended() const;

    /// Returns whether a caller need not wait any longer.
    bool Completed() const;

    /// Waits until the last part has ended, and what follows it, or until a stop. Throws the
    /// failure of the collective, and "Operation timed out!" as Gloo does.
    void Wait(std::chrono::milliseconds timeout);

    /// Ends it with the error FORCE STOP, unless it has completed: its caller waits no longer, and
    /// nothing follows the last part. May be called by any thread.
    void Stop();

    void ThrowIfStopped() const;

 private:
    void PartEnded(const std::exception_ptr& failure);

    void Complete();

    void Publish();

    mutable std::mutex mutex_;  // guards all below
    std::condition_variable published_;
    size_t left_ = 0;
    bool completing_ = false;  // by one thread: that of the last part, or of a stop
    bool stopped_ = false;
    bool isPublished_ = false;    // the future has completed
    std::exception_ptr failure_;  // set before `isPublished_`, and kept
};

/// Keeps the memory of collectives that Gloo still works on, also if their caller drops the Work.
/// Only threads of the callers release it, because Gloo's must not need the interpreter's lock.
class InFlight {
 public:
    void Add(std::shared_ptr<Collective> collective);

    /// Keeps the memory of a point-to-point call without a wait, of which Gloo never reports the
    /// end.
    void Abandon(std::shared_ptr<Collective> collective);

    void Prune();

 private:
    std::mutex mutex_;
    std::vector<std::shared_ptr<Collective>> collectives_;
    std::vector<std::shared_ptr<Collective>> abandoned_;
};

/// The Work of one collective. The results are in memory after `wait`, so operators of every stream
/// see them.
class HostWork : public c10d::Work {
 public:
    HostWork(int rank, c10d::OpType type, std::shared_ptr<Collective> collective,
             std::shared_ptr<InFlight> inFlight)
        : Work(rank, type), collective_(std::move(collective)), inFlight_(std::move(inFlight)) {}

    ~HostWork() override;

    bool isCompleted() override { return collective_->Completed(); }

    bool isSuccess() const override { return collective_->Completed() && !exception(); }

    std::exception_ptr exception() const override;

    int sourceRank() const override { return collective_->parts.at(0)->sourceRank(); }

    std::vector<at::Tensor> result() override { return collective_->outputs; }

    void synchronize() override { wait(kNoTimeout); }

    void blockCurrentStream() override { wait(kNoTimeout); }

    bool wait(std::chrono::milliseconds timeout) override;

    void abort() override;

    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

    uint64_t getSequencenumber() const override;

 private:
    const std::shared_ptr<Collective> collective_;
    const std::shared_ptr<InFlight> inFlight_;
};

/// The Work of the collectives between startCoalescing and endCoalescing.
class CoalescedWork : public c10d::Work {
 public:
    CoalescedWork(int rank, std::vector<c10::intrusive_ptr<c10d::Work>> works)
        : Work(rank, c10d::OpType::COALESCED), works_(std::move(works)) {}

    bool isCompleted() override;

    bool isSuccess() const override;

    std::exception_ptr exception() const override;

    std::vector<at::Tensor> result() override;

    void synchronize() override { wait(kNoTimeout); }

    void blockCurrentStream() override { wait(kNoTimeout); }

    bool wait(std::chrono::milliseconds timeout) override;

    void abort() override;

    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

 private:
    const std::vector<c10::intrusive_ptr<c10d::Work>> works_;
};

}  // namespace advstep_torch
