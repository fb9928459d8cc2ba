// SPDX-License-Identifier: Apache-2.0
// Mutexes of streams, for which a thread waits without the interpreter's lock.

#include "torch_kernels/dispatch/stream_lock.h"

#include <cstddef>
#include <cstdint>

#include "torch_kernels/device/python_lock.h"

namespace advstep_torch {
namespace {

thread_local std::mutex* heldMutex = nullptr;  // by the calling thread

// Two streams that have the same mutex by chance wait for each other's kernels, and no more.
std::mutex* MutexOf(const void* stream) {
    constexpr size_t kCount = 64;
    static auto* const mutexes = new std::mutex[kCount];
    const auto number = reinterpret_cast<uintptr_t>(stream);
    return &mutexes[(number ^ (number >> 8)) % kCount];
}

}  // namespace

StreamLock::StreamLock(const void* stream)
    : mutex_(heldMutex == nullptr ? MutexOf(stream) : nullptr) {
    if (mutex_ == nullptr) {
        return;
    }
    if (!mutex_->try_lock()) {
        const WithoutPython withoutPython;  // the kernel that runs may need the interpreter's lock
        mutex_->lock();
    }
    heldMutex = mutex_;
}

StreamLock::~StreamLock() {
    if (mutex_ != nullptr) {
        heldMutex = nullptr;
        mutex_->unlock();
    }
}

bool StreamLock::Held() { return heldMutex != nullptr; }

}  // namespace advstep_torch
