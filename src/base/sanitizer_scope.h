// SPDX-License-Identifier: Apache-2.0
// Tells the memory that the sanitizer takes from the memory of the call in which it takes it.

#pragma once

namespace advstep {

/// While it lives, the calling thread works for the sanitizer. What it allocates is of no call, so
/// that it is not counted and no fault on purpose strikes it: a program meets the same faults with
/// and without the sanitizer. No function of the program runs in such a scope.
class SanitizerScope {
 public:
    explicit SanitizerScope(bool entered = true) noexcept : entered_(entered) { depth_ += entered; }
    ~SanitizerScope() { depth_ -= entered_; }
    SanitizerScope(const SanitizerScope&) = delete;
    SanitizerScope& operator=(const SanitizerScope&) = delete;

    /// Returns whether the calling thread is in such a scope.
    static bool Entered() noexcept { return depth_ > 0; }

 private:
    static inline thread_local int depth_ = 0;

    const bool entered_;
};

}  // namespace advstep
