// SPDX-License-Identifier: Apache-2.0
// Waits until a stream has released half of the operators that it may have.

#include "torch_kernels/dispatch/backlog.h"

#include <chrono>
#include <unordered_map>

#include "torch_kernels/device/python_lock.h"

namespace advstep_torch {

Backlog& Backlog::Of(const void* stream) {
    thread_local const void* known = nullptr;
    thread_local Backlog* its = nullptr;
    if (its == nullptr || known != stream) {
        static auto* const mutex = new std::mutex;
        static auto* const all = new std::unordered_map<const void*, Backlog>;
        const std::lock_guard<std::mutex> lock(*mutex);
        its = &(*all)[stream];  // its place stays
        known = stream;
    }
    return *its;
}

void Backlog::Left() {
    if (count_.fetch_sub(1) == kLow + 1 && waiting_.load() > 0) {
        const std::lock_guard<std::mutex> lock(mutex_);
        room_.notify_all();
    }
}

void Backlog::WaitForRoom() {
    if (count_.load(std::memory_order_relaxed) < kMost) {
        return;
    }
    const WithoutPython withoutPython;
    waiting_.fetch_add(1);
    while (!HasRoomSoon() && !Interrupted()) {
    }
    waiting_.fetch_sub(1);
}

bool Backlog::HasRoomSoon() {
    std::unique_lock<std::mutex> lock(mutex_);
    return room_.wait_for(lock, std::chrono::milliseconds(50),
                          [this] { return count_.load() <= kLow; });
}

}  // namespace advstep_torch
