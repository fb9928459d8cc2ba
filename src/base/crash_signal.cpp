// SPDX-License-Identifier: Apache-2.0
// Installs the handlers of crash signals, and chains them with those of the program.

#include "src/base/crash_signal.h"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "src/base/at_load.h"
#include "src/base/fork.h"

namespace advstep {
namespace {

constexpr int kMostDescribers = 3;

// A signal and its handlers. `before` is set before the library's handler can be called. Describers
// are only added.
struct Watched {
    int signal;
    bool installed;  // under the ConstructionMutex
    struct sigaction before;
    std::atomic<DescribeCrash> describers[kMostDescribers];
};

const char* NameOf(int signal) {
    switch (signal) {
        case SIGSEGV:
            return "SIGSEGV";
        case SIGBUS:
            return "SIGBUS";
        case SIGFPE:
            return "SIGFPE";
        case SIGILL:
            return "SIGILL";
        default:
            return "SIGABRT";
    }
}

Watched watched[] = {{SIGSEGV, false, {}, {}},
                     {SIGBUS, false, {}, {}},
                     {SIGFPE, false, {}, {}},
                     {SIGILL, false, {}, {}},
                     {SIGABRT, false, {}, {}}};

std::atomic<SettleFault> settlers[2];  // filled from the front

Watched* Find(int signal) {
    for (Watched& one : watched) {
        if (one.signal == signal) {
            return &one;
        }
    }
    return nullptr;
}

// Treats the signal as if this handler were not installed. The thread sanitizer (of clang 14) ends
// its report of a SIGSEGV at its second line, with "nested bug in the same thread", if any handler
// has passed the signal on to its own. Its exit status stays; the library need not be there for it.
void PassOn(const struct sigaction& before, int signal, siginfo_t* info, void* context) {
    if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(signal, info, context);
        return;
    }
    const bool sent = info->si_code <= 0;  // by kill or raise, and not caused by an instruction
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(signal);
    } else if (before.sa_handler == SIG_DFL || !sent) {
        // The instruction runs again when this handler returns, and then ends the process.
        struct sigaction byDefault {};
        byDefault.sa_handler = SIG_DFL;
        (void)sigaction(signal, &byDefault, nullptr);
        if (sent) {
            (void)raise(signal);
        }
    }
}

void HandleSignal(int signal, siginfo_t* info, void* context) {
    const int before = errno;
    for (const std::atomic<SettleFault>& settler : settlers) {
        const SettleFault settle = settler.load(std::memory_order_acquire);
        if (signal == SIGSEGV && settle != nullptr && settle(*info, context)) {
            errno = before;
            return;
        }
    }
    const Watched* const here = Find(signal);
    for (const std::atomic<DescribeCrash>& slot : here->describers) {
        const DescribeCrash describe = slot.load(std::memory_order_acquire);
        if (describe != nullptr) {
            describe(signal, *info, context);
        }
    }
    errno = before;
    PassOn(here->before, signal, info, context);
}

void AddDescriber(Watched* here, DescribeCrash describe) {
    for (std::atomic<DescribeCrash>& slot : here->describers) {
        const DescribeCrash present = slot.load(std::memory_order_relaxed);
        if (present == nullptr) {
            slot.store(describe, std::memory_order_release);
        }
        if (present == nullptr || present == describe) {
            return;
        }
    }
}

// Installs the handler. The child of a fork does so again if a thread of the parent was doing it.
// The library's handler may then be installed already, and must not become its own `before`.
void Install(Watched* here) {
    struct sigaction installed {};
    if (sigaction(here->signal, nullptr, &installed) == 0 &&
        installed.sa_sigaction != &HandleSignal) {
        here->before = installed;
    }
    struct sigaction action {};
    action.sa_sigaction = &HandleSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(here->signal, &action, nullptr);
    here->installed = true;
}

constexpr size_t kAlternateStackBytes = size_t{64} << 10;

// Runs at the end of a thread that has an alternate stack of the library.
void FreeAlternateStack(void* memory) {
    stack_t known{};
    if (sigaltstack(nullptr, &known) == 0 && known.ss_sp == memory) {
        known.ss_flags = SS_DISABLE;
        (void)sigaltstack(&known, nullptr);
        (void)munmap(memory, kAlternateStackBytes);
    }
}

// The key of the threads' alternate stacks. A thread_local object with a destructor would take
// memory that the child of a fork cannot free: leak checkers report that of threads that are gone.
const pthread_key_t* AlternateStackKey() {
    static const std::optional<pthread_key_t> key = []() -> std::optional<pthread_key_t> {
        pthread_key_t made{};
        return pthread_key_create(&made, &FreeAlternateStack) == 0 ? std::optional(made)
                                                                   : std::nullopt;
    }();
    return key ? &*key : nullptr;
}

const AtLoad makeAlternateStackKey(&AlternateStackKey);

// Gives the calling thread an alternate signal stack, unless it has one.
void MakeAlternateStack() {
    stack_t known{};
    if (sigaltstack(nullptr, &known) != 0 || (known.ss_flags & SS_DISABLE) == 0) {
        return;
    }
    const pthread_key_t* const key = AlternateStackKey();
    if (key == nullptr) {
        return;
    }
    stack_t mine{};
    mine.ss_size = kAlternateStackBytes;
    mine.ss_sp = mmap(nullptr, kAlternateStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (mine.ss_sp == MAP_FAILED) {
        return;
    }
    if (pthread_setspecific(*key, mine.ss_sp) != 0) {
        (void)munmap(mine.ss_sp, kAlternateStackBytes);
    } else if (sigaltstack(&mine, nullptr) != 0) {
        (void)pthread_setspecific(*key, nullptr);
        (void)munmap(mine.ss_sp, kAlternateStackBytes);
    }
}

}  // namespace

void DescribeCrashes(std::initializer_list<int> signals, DescribeCrash describe) {
    const std::lock_guard<std::mutex> lock(ForkHook::ConstructionMutex());
    for (const int signal : signals) {
        Watched* const here = Find(signal);
        AddDescriber(here, describe);
        if (!here->installed) {
            Install(here);
        }
    }
}

bool RaisedByProcess(const siginfo_t& info) {
    return info.si_code > 0 || (info.si_code == SI_TKILL && info.si_pid == getpid());
}

SignalLine& SignalLine::Crash(int signal, const siginfo_t& info) {
    *this << " crashes by " << NameOf(signal);
    if (info.si_code > 0) {
        (*this << " at ").Address(reinterpret_cast<uintptr_t>(info.si_addr));
    }
    return *this;
}

bool SettleFaults(SettleFault settle) {
    const std::lock_guard<std::mutex> lock(ForkHook::ConstructionMutex());
    for (std::atomic<SettleFault>& settler : settlers) {
        const SettleFault present = settler.load(std::memory_order_relaxed);
        if (present == nullptr) {
            settler.store(settle, std::memory_order_release);
        }
        if (present == nullptr || present == settle) {
            break;
        }
    }
    Watched* const here = Find(SIGSEGV);
    if (!here->installed) {
        Install(here);
    }
    struct sigaction present {};
    return sigaction(SIGSEGV, nullptr, &present) == 0 && present.sa_sigaction == &HandleSignal;
}

void EnsureAlternateStack() {
    static thread_local bool tried = false;
    if (!tried) {
        tried = true;
        MakeAlternateStack();
    }
}

}  // namespace advstep
