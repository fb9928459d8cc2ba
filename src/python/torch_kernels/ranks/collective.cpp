// SPDX-License-Identifier: Apache-2.0
// Follows the parts of collectives until the last one has ended, and waits for them.

#include "torch_kernels/ranks/collective.h"

#include <algorithm>
#include <iterator>

#include "torch_kernels/device/thread_state.h"

namespace advstep_torch {
namespace {

std::exception_ptr Failure(const std::string& text) {
    try {
        C10_THROW_ERROR(DistBackendError, text);
    } catch (...) {
        return std::current_exception();
    }
}

// Returns an exception with the message of the given one, after the name of the collective.
std::exception_ptr Named(const std::string& name, const std::exception_ptr& failure) {
    std::string text = "unknown error";
    try {
        std::rethrow_exception(failure);
    } catch (const c10::Error& error) {
        text = error.what_without_backtrace();
    } catch (const std::exception& error) {
        text = error.what();
    } catch (...) {
    }
    return Failure(name + ": " + text);
}

}  // namespace

void Collective::Follow(const std::shared_ptr<Collective>& self) {
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

c10::intrusive_ptr<c10::ivalue::Future> Collective::FutureOfDevices() const {
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

bool Collective::Ended() const {
    const bool followed = !future || future->completed();
    return followed && std::all_of(parts.begin(), parts.end(),
                                   [](const auto& part) { return part->isCompleted(); });
}

bool Collective::Completed() const {
    if (future) {
        return future->completed();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    return stopped_ || Ended();
}

void Collective::Wait(std::chrono::milliseconds timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto published = [this] { return isPublished_; };
    if (timeout == kNoTimeout) {
        published_.wait(lock, published);
    } else if (!published_.wait_for(lock, timeout, published)) {
        C10_THROW_ERROR(DistBackendError, name + ": Operation timed out!");
    }
    if (failure_) {
        std::rethrow_exception(failure_);
    }
}

void Collective::Stop() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (std::exchange(completing_, true)) {
            return;
        }
        stopped_ = true;
        failure_ = Failure(name + ": FORCE STOP: torch_npu.npu.stop_device has ended it");
    }
    if (future) {
        Publish();
        return;
    }
    for (const auto& part : parts) {  // point to point: this ends the waits of its callers
        part->abort();
    }
}

void Collective::ThrowIfStopped() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) {
        std::rethrow_exception(failure_);
    }
}

void Collective::PartEnded(const std::exception_ptr& failure) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (failure && !failure_) {
            failure_ = Named(name, failure);
        }
        if (--left_ != 0 || std::exchange(completing_, true)) {
            return;
        }
    }
    Complete();
}

void Collective::Complete() {
    std::exception_ptr failure;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        failure = failure_;
    }
    if (!failure) {
        try {
            const BelowAutograd below;
            for (const std::function<void()>& step : after) {
                step();
            }
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex_);
            failure_ = Named(name, std::current_exception());
        }
    }
    Publish();
}

// Completes the future, whose callbacks run here, and then wakes those who wait.
void Collective::Publish() {
    std::exception_ptr failure;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        failure = failure_;
    }
    if (failure) {
        future->setError(failure);
    } else {
        future->markCompleted(c10::IValue(outputs));
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    isPublished_ = true;
    published_.notify_all();
}

void InFlight::Add(std::shared_ptr<Collective> collective) {
    Prune();
    const std::lock_guard<std::mutex> lock(mutex_);
    collectives_.push_back(std::move(collective));
}

void InFlight::Abandon(std::shared_ptr<Collective> collective) {
    const std::lock_guard<std::mutex> lock(mutex_);
    abandoned_.push_back(std::move(collective));
}

void InFlight::Prune() {
    std::vector<std::shared_ptr<Collective>> ended;  // destroyed without the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto first =
        std::stable_partition(collectives_.begin(), collectives_.end(),
                              [](const auto& collective) { return !collective->Ended(); });
    std::move(first, collectives_.end(), std::back_inserter(ended));
    collectives_.erase(first, collectives_.end());
}

HostWork::~HostWork() {
    if (!collective_->future && !collective_->Ended()) {
        inFlight_->Abandon(collective_);
    }
}

std::exception_ptr HostWork::exception() const {
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

bool HostWork::wait(std::chrono::milliseconds timeout) {
    if (collective_->future) {
        try {
            collective_->Wait(timeout);
        } catch (...) {
            inFlight_->Prune();
            throw;
        }
        inFlight_->Prune();
        return true;
    }
    bool done = true;
    try {
        for (const auto& part : collective_->parts) {
            done = part->wait(timeout) && done;
        }
    } catch (...) {
        collective_->ThrowIfStopped();
        std::rethrow_exception(Named(collective_->name, std::current_exception()));
    }
    collective_->ThrowIfStopped();
    return done;
}

void HostWork::abort() {
    for (const auto& part : collective_->parts) {
        part->abort();
    }
}

c10::intrusive_ptr<c10::ivalue::Future> HostWork::getFuture() {
    TORCH_CHECK(collective_->future, collective_->name, " has no future; expected wait()");
    return collective_->FutureOfDevices();
}

uint64_t HostWork::getSequencenumber() const {
    return collective_->parts.at(0)->getSequencenumber();
}

bool CoalescedWork::isCompleted() {
    return std::all_of(works_.begin(), works_.end(),
                       [](const auto& work) { return work->isCompleted(); });
}

bool CoalescedWork::isSuccess() const {
    return std::all_of(works_.begin(), works_.end(),
                       [](const auto& work) { return work->isSuccess(); });
}

std::exception_ptr CoalescedWork::exception() const {
    for (const auto& work : works_) {
        if (std::exception_ptr failure = work->exception()) {
            return failure;
        }
    }
    return nullptr;
}

std::vector<at::Tensor> CoalescedWork::result() {
    std::vector<at::Tensor> results;
    for (const auto& work : works_) {
        const std::vector<at::Tensor> part = work->result();
        results.insert(results.end(), part.begin(), part.end());
    }
    return results;
}

bool CoalescedWork::wait(std::chrono::milliseconds timeout) {
    bool done = true;
    for (const auto& work : works_) {
        done = work->wait(timeout) && done;
    }
    return done;
}

void CoalescedWork::abort() {
    for (const auto& work : works_) {
        work->abort();
    }
}

c10::intrusive_ptr<c10::ivalue::Future> CoalescedWork::getFuture() {
    c10::List<c10::intrusive_ptr<c10::ivalue::Future>> futures(
        c10::FutureType::create(c10::ListType::create(c10::TensorType::get())));
    for (const auto& work : works_) {
        futures.push_back(work->getFuture());
    }
    return c10::collectAll(futures);
}

}  // namespace advstep_torch
