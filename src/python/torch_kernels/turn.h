// SPDX-License-Identifier: Apache-2.0
// One operator of a stream at a time, also if several threads ask for operators.

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "python_lock.h"

namespace advstep_torch {

/// Keeps the kernels of a stream apart. An operator that runs at once has no place in the stream,
/// so another thread takes the stream for idle meanwhile.
///
/// The mutex is held for torch's kernel for "cpu" only, and after a generator's. No memory of the
/// device is allocated under it: a thread that holds an allocator's lock may wait for the stream.
class Turn {
 public:
    explicit Turn(const void* stream) : mutex_(held == nullptr ? Of(stream) : nullptr) {
        if (mutex_ == nullptr) {
            return;  // an operator within another one of the thread
        }
        if (!mutex_->try_lock()) {
            WaitForOthers();
        }
        held = mutex_;
    }
    ~Turn() {
        if (mutex_ != nullptr) {
            held = nullptr;
            mutex_->unlock();
        }
    }
    /// Whether the calling thread runs a kernel.
    static bool Has() { return held != nullptr; }

    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

 private:
    // Two streams that have the same mutex by chance wait for each other's kernels, and no more.
    static std::mutex* Of(const void* stream) {
        constexpr size_t kCount = 64;
        static auto* const mutexes = new std::mutex[kCount];
        const auto number = reinterpret_cast<uintptr_t>(stream);
        return &mutexes[(number ^ (number >> 8)) % kCount];
    }

    // The kernel that runs may need the interpreter's lock.
    void WaitForOthers() const {
        const WithoutPython withoutPython;
        mutex_->lock();
    }

    static inline thread_local std::mutex* held = nullptr;
    std::mutex* const mutex_;
};

}  // namespace advstep_torch
