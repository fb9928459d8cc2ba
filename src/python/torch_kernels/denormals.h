// SPDX-License-Identifier: Apache-2.0
// Whether torch takes denormal numbers as zero (torch.set_flush_denormal), a mode of a thread.

#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <atomic>

#include "threads.h"

namespace advstep_torch {

/// Has the calling thread flush denormals in its scope as the thread did that asked for the
/// operator. The other bits of the floating-point environment stay.
class DenormalsScope {
 public:
#if defined(__SSE2__)
    explicit DenormalsScope(unsigned wanted) : before_(_mm_getcsr()) {
        if ((before_ & kFlush) != wanted) {
            _mm_setcsr((before_ & ~kFlush) | wanted);
        }
    }
    ~DenormalsScope() {
        const unsigned now = _mm_getcsr();
        if ((now & kFlush) != (before_ & kFlush)) {
            _mm_setcsr((now & ~kFlush) | (before_ & kFlush));
        }
    }
    static unsigned OfThisThread() { return _mm_getcsr() & kFlush; }

 private:
    static constexpr unsigned kFlush = 0x8040;  // results (FTZ) and arguments (DAZ)
    const unsigned before_;
#else
    explicit DenormalsScope(unsigned) {}
    static unsigned OfThisThread() { return 0; }
#endif

 public:
    DenormalsScope(const DenormalsScope&) = delete;
    DenormalsScope& operator=(const DenormalsScope&) = delete;
};

/// The mode for an operator that the calling thread asks for. A thread of gradients gets that of
/// the program, as in ThreadsOfCaller.
inline unsigned DenormalsOfCaller() {
    static std::atomic<unsigned> ofProgram{0};
    if (IsThreadOfGradients()) {
        return ofProgram.load(std::memory_order_relaxed);
    }
    const unsigned own = DenormalsScope::OfThisThread();
    ofProgram.store(own, std::memory_order_relaxed);
    return own;
}

}  // namespace advstep_torch
