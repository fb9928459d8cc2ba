// SPDX-License-Identifier: Apache-2.0
// The Work of several collectives that were begun together.

#pragma once

#include <algorithm>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

namespace advstep_torch {

/// The Work of the collectives between startCoalescing and endCoalescing.
class TogetherWork : public c10d::Work {
 public:
    TogetherWork(int rank, std::vector<c10::intrusive_ptr<c10d::Work>> works)
        : Work(rank, c10d::OpType::COALESCED), works_(std::move(works)) {}

    bool isCompleted() override {
        return std::all_of(works_.begin(), works_.end(),
                           [](const auto& work) { return work->isCompleted(); });
    }

    bool isSuccess() const override {
        return std::all_of(works_.begin(), works_.end(),
                           [](const auto& work) { return work->isSuccess(); });
    }

    std::exception_ptr exception() const override {
        for (const auto& work : works_) {
            if (std::exception_ptr failure = work->exception()) {
                return failure;
            }
        }
        return nullptr;
    }

    std::vector<at::Tensor> result() override {
        std::vector<at::Tensor> results;
        for (const auto& work : works_) {
            const std::vector<at::Tensor> part = work->result();
            results.insert(results.end(), part.begin(), part.end());
        }
        return results;
    }

    void synchronize() override { wait(kNoTimeout); }

    void blockCurrentStream() override { wait(kNoTimeout); }

    bool wait(std::chrono::milliseconds timeout) override {
        bool done = true;
        for (const auto& work : works_) {
            done = work->wait(timeout) && done;
        }
        return done;
    }

    void abort() override {
        for (const auto& work : works_) {
            work->abort();
        }
    }

    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
        c10::List<c10::intrusive_ptr<c10::ivalue::Future>> futures(
            c10::FutureType::create(c10::ListType::create(c10::TensorType::get())));
        for (const auto& work : works_) {
            futures.push_back(work->getFuture());
        }
        return c10::collectAll(futures);
    }

 private:
    const std::vector<c10::intrusive_ptr<c10d::Work>> works_;
};

}  // namespace advstep_torch
