// SPDX-License-Identifier: Apache-2.0
// The function of the program that a stream's thread is in.

#pragma once

#include <cstdint>

namespace advstep {

/// While it lives, the calling thread runs a function of the program that is that task of the
/// stream. `blocks`: what the function does comes before the next task.
class InsideHostFunction {
 public:
    InsideHostFunction(const void* stream, uint64_t sequence, bool blocks) noexcept
        : stream_(stream), sequence_(sequence), blocks_(blocks), outer_(innermost_) {
        innermost_ = this;
    }
    ~InsideHostFunction() { innermost_ = outer_; }
    InsideHostFunction(const InsideHostFunction&) = delete;
    InsideHostFunction& operator=(const InsideHostFunction&) = delete;

    /// Returns the calling thread's, or null.
    static const InsideHostFunction* Innermost() { return innermost_; }

    const void* stream() const { return stream_; }
    uint64_t sequence() const { return sequence_; }
    bool blocks() const { return blocks_; }

 private:
    // The model is initial-exec, so that a signal handler may read the variable.
    [[gnu::tls_model(
        "initial-exec")]] static inline thread_local const InsideHostFunction* innermost_ = nullptr;

    const void* const stream_;
    const uint64_t sequence_;
    const bool blocks_;
    const InsideHostFunction* const outer_;
};

}  // namespace advstep
