// SPDX-License-Identifier: Apache-2.0
// One kernel of a stream at a time, also if several threads ask for operators.

#pragma once

#include <mutex>

namespace advstep_torch {

/// Keeps the kernels of a stream apart. An operator that runs at once has no place in the stream,
/// so another thread takes the stream for idle meanwhile.
///
/// The mutex is held for torch's kernel for "cpu" only, and after a generator's. No memory of the
/// device is allocated under it: a thread that holds an allocator's lock may wait for the stream.
class StreamLock {
 public:
    explicit StreamLock(const void* stream);
    ~StreamLock();

    /// Returns whether the calling thread runs a kernel.
    static bool Held();

    StreamLock(const StreamLock&) = delete;
    StreamLock& operator=(const StreamLock&) = delete;

 private:
    std::mutex* const mutex_;  // null: of an operator within another one of the thread
};

}  // namespace advstep_torch
