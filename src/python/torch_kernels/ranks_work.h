// SPDX-License-Identifier: Apache-2.0
// Collectives under way: the calls of Gloo they consist of, and the Work that their caller gets.

#pragma once

#include <ATen/core/ivalue.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

#include "queued.h"

namespace advstep_torch {

/// Returns an exception with the message of the given one, after the name of the collective.
inline std::exception_ptr Named(const std::string& name, const std::exception_ptr& failure) {
    std::string text = "unknown error";
    try {
        std::rethrow_exception(failure);
    } catch (const c10::Error& error) {
        text = error.what_without_backtrace();
    } catch (const std::exception& error) {
        text = error.what();
    } catch (...) {
    }
    try {
        C10_THROW_ERROR(DistBackendError, name + ": " + text);
    } catch (...) {
        return std::current_exception();
    }
}

/// One collective. Gloo's threads see views, which own no memory; the "npu" tensors here own it.
/// Everything but `left` and `failure` is set before the first part begins to be followed.
struct Collective {
    std::string name;
    std::vector<c10::intrusive_ptr<c10d::Work>> parts;  // Gloo's
    std::vector<at::Tensor> tensors;
    std::vector<at::Tensor> outputs;
    std::vector<std::function<void()>> after;  // on Gloo's thread: neither Python nor the device
    // The future of `outputs`. It has no devices, because the memory is written when it completes.
    // Point to point has no future, as with Gloo.
    c10::intrusive_ptr<c10::ivalue::Future> future;

    static void Follow(const std::shared_ptr<Collective>& self) {
        self->future =
            c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
        self->left_ = self->parts.size();
        if (self->parts.empty()) {
            self->Complete();
        }
        for (const auto& part : self->parts) {
            part->getFuture()->addCallback([self](c10::ivalue::Future& done) {
                self->PartEnded(done.hasError() ? done.exception_ptr() : nullptr);
            });
        }
    }

    /// Returns a future with the devices of the tensors. torch orders the work that its callbacks
    /// queue before later work of the thread that waits for it.
    c10::intrusive_ptr<c10::ivalue::Future> FutureOfDevices() const {
        std::vector<c10::Device> devices;
        for (const at::Tensor& tensor : tensors) {
            if (std::find(devices.begin(), devices.end(), tensor.device()) == devices.end()) {
                devices.push_back(tensor.device());
            }
        }
        auto ofDevices =
            c10::make_intrusive<c10::ivalue::Future>(future->elementType(), std::move(devices));
        future->addCallback([ofDevices](c10::ivalue::Future& done) {
            if (done.hasError()) {
                ofDevices->setError(done.exception_ptr());
            } else {
                ofDevices->markCompleted(done.value());
            }
        });
        return ofDevices;
    }

    bool Ended() const {
        return (!future || future->completed()) &&
               std::all_of(parts.begin(), parts.end(),
                           [](const auto& part) { return part->isCompleted(); });
    }

 private:
    void PartEnded(const std::exception_ptr& failure) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (failure && !failure_) {
                failure_ = Named(name, failure);
            }
            if (--left_ != 0) {
                return;
            }
        }
        Complete();
    }

    void Complete() {
        if (!failure_) {
            try {
                const BelowAutograd below;
                for (const std::function<void()>& step : after) {
                    step();
                }
            } catch (...) {
                failure_ = Named(name, std::current_exception());
            }
        }
        if (failure_) {
            future->setError(failure_);
        } else {
            future->markCompleted(c10::IValue(outputs));
        }
    }

    std::mutex mutex_;  // guards the two below, until the last part has ended
    size_t left_ = 0;
    std::exception_ptr failure_;
};

/// Keeps the memory of collectives that Gloo still works on, also if their caller drops the Work.
/// Only threads of the callers release it, because Gloo's must not need the interpreter's lock.
class InFlight {
 public:
    void Add(std::shared_ptr<Collective> collective) {
        Prune();
        const std::lock_guard<std::mutex> lock(mutex_);
        collectives_.push_back(std::move(collective));
    }

    /// Keeps the memory of a point-to-point call without a wait, of which Gloo never reports the
    /// end.
    void Abandon(std::shared_ptr<Collective> collective) {
        const std::lock_guard<std::mutex> lock(mutex_);
        abandoned_.push_back(std::move(collective));
    }

    void Prune() {
        std::vector<std::shared_ptr<Collective>> ended;  // destroyed without the lock
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto first =
            std::stable_partition(collectives_.begin(), collectives_.end(),
                                  [](const auto& collective) { return !collective->Ended(); });
        std::move(first, collectives_.end(), std::back_inserter(ended));
        collectives_.erase(first, collectives_.end());
    }

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

    ~HostWork() override {
        if (!collective_->future && !collective_->Ended()) {
            inFlight_->Abandon(collective_);
        }
    }

    bool isCompleted() override { return collective_->Ended(); }

    bool isSuccess() const override { return collective_->Ended() && !exception(); }

    std::exception_ptr exception() const override {
        if (collective_->future) {
            return collective_->future->hasError() ? collective_->future->exception_ptr() : nullptr;
        }
        for (const auto& part : collective_->parts) {
            if (std::exception_ptr failure = part->exception()) {
                return Named(collective_->name, failure);
            }
        }
        return nullptr;
    }

    int sourceRank() const override { return collective_->parts.at(0)->sourceRank(); }

    std::vector<at::Tensor> result() override { return collective_->outputs; }

    void synchronize() override { wait(kNoTimeout); }

    void blockCurrentStream() override { wait(kNoTimeout); }

    bool wait(std::chrono::milliseconds timeout) override {
        bool done = true;
        try {
            for (const auto& part : collective_->parts) {
                done = part->wait(timeout) && done;
            }
        } catch (...) {
            const std::exception_ptr failure = Named(collective_->name, std::current_exception());
            inFlight_->Prune();
            std::rethrow_exception(failure);
        }
        if (collective_->future) {
            collective_->future->wait();  // for what follows the last part
            inFlight_->Prune();
            if (collective_->future->hasError()) {
                std::rethrow_exception(collective_->future->exception_ptr());
            }
        }
        return done;
    }

    void abort() override {
        for (const auto& part : collective_->parts) {
            part->abort();
        }
    }

    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
        TORCH_CHECK(collective_->future, collective_->name, " has no future; expected wait()");
        return collective_->FutureOfDevices();
    }

    uint64_t getSequencenumber() const override {
        return collective_->parts.at(0)->getSequencenumber();
    }

 private:
    const std::shared_ptr<Collective> collective_;
    const std::shared_ptr<InFlight> inFlight_;
};

}  // namespace advstep_torch
