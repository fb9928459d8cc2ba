// SPDX-License-Identifier: Apache-2.0
// A fiber: a stack and thread-local variables of its own, on a thread of the operating system.

#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <functional>
#include <memory>
#include <vector>

namespace schedules {

/// Runs a function on a stack of its own, with the program's thread-local variables as a new thread
/// has them. So code that keeps things per thread cannot tell a fiber from a thread. All fibers run
/// on one thread of the operating system, one at a time.
///
/// A switch copies the program's thread-local block out and in. That block has a fixed place and
/// all thread-local variables of code that is linked statically; the system's libraries keep
/// theirs, which need no parting, except the exceptions being handled.
class Fiber {
 public:
    /// The fiber of the running thread itself.
    Fiber();
    /// A fiber that begins with `body`, which ends by a switch to another fiber. Fibers of the same
    /// number have the same stack, one after another, so that addresses are the same every time.
    Fiber(size_t number, std::function<void()> body);
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Leaves `from`, which is running, and continues `to`.
    static void Switch(Fiber* from, Fiber* to);

    /// Destroys the thread-local objects of the running fiber, as the end of a thread does.
    void EndThreadLocals();

    /// Registers an object as __cxa_thread_atexit does.
    void AtThreadEnd(void (*destroy)(void*), void* object) { ends_.push_back({destroy, object}); }

 private:
    struct AtEnd {
        void (*destroy)(void*);
        void* object;
    };
    struct Exceptions {  // of the C++ run-time library, for each thread
        void* caught = nullptr;
        unsigned int uncaught = 0;
    };

    static void Enter(unsigned int high, unsigned int low);
    [[gnu::noinline]] static void Jump(Fiber* from, Fiber* to);

    std::function<void()> body_;
    bool started_ = false;
    jmp_buf place_;
    ucontext_t start_;
    std::vector<char> locals_;
    Exceptions exceptions_;
    std::vector<AtEnd> ends_;
};

}  // namespace schedules
