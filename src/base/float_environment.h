// SPDX-License-Identifier: Apache-2.0
// The floating-point environment of the work of a device.

#pragma once

#include <cfenv>
#include <cstdint>

namespace advstep {

#if defined(__x86_64__)

/// The registers of x86-64 that hold the environment. SSE's is one register for rounding, the
/// flushing of subnormal numbers, traps and status flags. That of the x87, which computes with long
/// double, is apart from it.
namespace x86 {

constexpr uint32_t kDefaultMxcsr = 0x1F80;    // rounds to nearest, flushes and traps nothing
constexpr uint32_t kMxcsrFlags = 0x3F;        // the status flags
constexpr uint16_t kDefaultControl = 0x037F;  // the same, with all 64 bits of a significand

inline uint32_t Mxcsr() noexcept {
    uint32_t value = 0;
    asm volatile("stmxcsr %0" : "=m"(value) : : "memory");
    return value;
}
inline void SetMxcsr(uint32_t value) noexcept {
    asm volatile("ldmxcsr %0" : : "m"(value) : "memory");
}
inline uint16_t Control() noexcept {
    uint16_t value = 0;
    asm volatile("fnstcw %0" : "=m"(value) : : "memory");
    return value;
}
// The flags are cleared before a load, which would raise the trap of one of them.
inline void ResetX87() noexcept {
    asm volatile("fnclex\n\tfldcw %0" : : "m"(kDefaultControl) : "memory");
}

/// All of the x87 except its registers, as fnstenv stores it.
struct X87State {
    uint32_t words[7];
};
inline void StoreX87(X87State* state) noexcept {
    asm volatile("fnstenv %0" : "=m"(*state) : : "memory");
}
inline void LoadX87(const X87State& state) noexcept {
    asm volatile("fnclex\n\tfldenv %0" : : "m"(state) : "memory");
}

}  // namespace x86

/// Gives the calling thread the default floating-point environment until the end of the scope:
/// numbers are rounded to nearest, none is flushed to zero, nothing traps, and no status flag is
/// set. The thread's own environment returns afterwards, so the scope raises no flag in it.
///
/// The work of a device runs in such a scope on whatever thread, because a thread of the program
/// has the program's environment. A scope costs about 20 ns. Kernels that compute with integers
/// need none.
///
/// The status flags of the x87 are left alone if its control word is the default: only calculations
/// with long double raise them, and a look at them would double the cost.
class DefaultFloatEnvironment {
 public:
    DefaultFloatEnvironment() noexcept : mxcsr_(x86::Mxcsr()) {
        if (mxcsr_ != x86::kDefaultMxcsr) {
            x86::SetMxcsr(x86::kDefaultMxcsr);
        }
        if (__builtin_expect(x86::Control() != x86::kDefaultControl, 0)) {
            x87Differed_ = true;
            x86::StoreX87(&x87_);
            x86::ResetX87();
        }
    }
    ~DefaultFloatEnvironment() {
        x86::SetMxcsr(mxcsr_);
        if (__builtin_expect(x87Differed_, 0)) {
            x86::LoadX87(x87_);
        } else if (__builtin_expect(x86::Control() != x86::kDefaultControl, 0)) {
            x86::ResetX87();
        }
    }
    DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
    DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

    /// Returns whether the calling thread has the default environment, except for status flags.
    static bool IsSet() noexcept {
        return (x86::Mxcsr() & ~x86::kMxcsrFlags) == x86::kDefaultMxcsr &&
               x86::Control() == x86::kDefaultControl;
    }

    /// Gives the calling thread the default environment for good.
    static void Set() noexcept {
        x86::SetMxcsr(x86::kDefaultMxcsr);
        x86::ResetX87();
    }

 private:
    const uint32_t mxcsr_;
    bool x87Differed_ = false;
    x86::X87State x87_;  // set if x87Differed_
};

#else

/// As above, by the functions of C.
class DefaultFloatEnvironment {
 public:
    DefaultFloatEnvironment() noexcept {
        (void)std::fegetenv(&before_);
        Set();
    }
    ~DefaultFloatEnvironment() { (void)std::fesetenv(&before_); }
    DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
    DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

    static bool IsSet() noexcept { return false; }  // C has no function for the flushing

    static void Set() noexcept { (void)std::fesetenv(FE_DFL_ENV); }

 private:
    std::fenv_t before_;
};

#endif

}  // namespace advstep
