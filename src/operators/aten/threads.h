// SPDX-License-Identifier: Apache-2.0
// The threads with which ATen computes.

#pragma once

namespace advstep_operators {

/// Has the calling thread compute with the process's number of threads in its scope, whatever
/// number the thread itself has: the number decides how a reduction splits its sum, and so the last
/// bits of its result. The number is that of ADVANCE_STEP_OPERATOR_THREADS, or ATen's own.
class ThreadsScope {
 public:
    ThreadsScope();
    ~ThreadsScope();
    ThreadsScope(const ThreadsScope&) = delete;
    ThreadsScope& operator=(const ThreadsScope&) = delete;

 private:
    const int before_;
    int mklBefore_ = 0;
};

}  // namespace advstep_operators
