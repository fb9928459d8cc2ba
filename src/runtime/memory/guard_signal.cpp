// SPDX-License-Identifier: Apache-2.0
// Describes an access to a guarded block from within the signal handler.

#include "src/runtime/memory/guard_signal.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "src/runtime/memory/guarded_memory.h"

namespace advstep {
namespace {

// A line for standard error, made without memory or locks, because a signal handler may use
// neither.
class Line {
 public:
    Line& operator<<(const char* text) {
        while (*text != '\0' && size_ < sizeof(bytes_)) {
            bytes_[size_++] = *text++;
        }
        return *this;
    }
    Line& Number(uint64_t value, unsigned base = 10) {
        char digits[20];
        size_t count = 0;
        do {
            digits[count++] = "0123456789abcdef"[value % base];
            value /= base;
        } while (value != 0);
        while (count > 0 && size_ < sizeof(bytes_)) {
            bytes_[size_++] = digits[--count];
        }
        return *this;
    }
    Line& Address(uintptr_t value) { return (*this << "0x").Number(value, 16); }
    Line& Offset(int64_t value) {
        return value < 0 ? (*this << "-").Number(uint64_t{0} - static_cast<uint64_t>(value))
                         : Number(static_cast<uint64_t>(value));
    }
    void Write() {
        *this << "\n";
        const char* at = bytes_;
        while (size_ > 0) {
            const ssize_t written = write(STDERR_FILENO, at, size_);
            if (written < 0) {
                return;
            }
            at += written;
            size_ -= static_cast<size_t>(written);
        }
    }

 private:
    char bytes_[512];
    size_t size_ = 0;
};

// "offset 24 of the 24 bytes at 0x7f.. of aclrtMalloc on device 0"
void Describe(Line& line, const GuardRecord& record, uintptr_t address) {
    const uintptr_t begin = record.begin.load(std::memory_order_relaxed);
    const int32_t device = record.device.load(std::memory_order_relaxed);
    line << "offset ";
    line.Offset(static_cast<int64_t>(address - begin));
    line << " of the ";
    line.Number(record.bytes.load(std::memory_order_relaxed)) << " bytes at ";
    line.Address(begin) << (device == GuardRecord::kPinned ? " of aclrtMallocHost"
                                                           : " of aclrtMalloc on device ");
    if (device != GuardRecord::kPinned) {
        line.Number(static_cast<uint64_t>(device));
    }
}

void Expect(Line& line, const GuardRecord& record) {
    line << "; expected an offset from 0 to ";
    line.Number(record.bytes.load(std::memory_order_relaxed) - 1);
}

const char* AccessOf(const void* context) {
#ifdef __x86_64__
    constexpr greg_t kWriteBit = 2;  // of the page fault's error code
    const auto* const user = static_cast<const ucontext_t*>(context);
    return (user->uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0 ? "write" : "read";
#else
    (void)context;
    return "access";
#endif
}

struct sigaction segvBefore;
struct sigaction busBefore;

// Treats the signal as if this handler were not installed.
void PassOn(int signal, siginfo_t* info, void* context) {
    const struct sigaction& before = signal == SIGSEGV ? segvBefore : busBefore;
    if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(signal, info, context);
        return;
    }
    const bool sent = info->si_code <= 0;  // by kill or raise, not caused by an access
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(signal);
    } else if (before.sa_handler == SIG_DFL || !sent) {
        // The access is repeated when this returns, and then ends the process at that place.
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
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    const GuardRecord* const record =
        info->si_code > 0 ? GuardedMemory::Instance().Find(address) : nullptr;
    if (record != nullptr) {
        const bool freed = record->freed.load(std::memory_order_relaxed);
        Line line;
        line << "advance_step error: guard: " << AccessOf(context) << " at ";
        line.Address(address) << ", " << (freed ? "in freed memory: " : "");
        Describe(line, *record, address);
        if (freed) {
            line << "; expected memory that has not been freed";
        } else {
            Expect(line, *record);
        }
        line.Write();
    }
    errno = before;
    PassOn(signal, info, context);
}

// An alternate signal stack of the calling thread, which is freed when the thread ends.
class AlternateStack {
 public:
    AlternateStack() {
        stack_t known{};
        if (sigaltstack(nullptr, &known) != 0 || (known.ss_flags & SS_DISABLE) == 0) {
            return;
        }
        stack_t mine{};
        mine.ss_size = kBytes;
        mine.ss_sp = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (mine.ss_sp == MAP_FAILED) {
            return;
        }
        if (sigaltstack(&mine, nullptr) != 0) {
            (void)munmap(mine.ss_sp, kBytes);
            return;
        }
        memory_ = mine.ss_sp;
    }
    ~AlternateStack() {
        stack_t known{};
        if (memory_ != nullptr && sigaltstack(nullptr, &known) == 0 && known.ss_sp == memory_) {
            known.ss_flags = SS_DISABLE;
            (void)sigaltstack(&known, nullptr);
            (void)munmap(memory_, kBytes);
        }
    }
    AlternateStack(const AlternateStack&) = delete;
    AlternateStack& operator=(const AlternateStack&) = delete;

 private:
    static constexpr size_t kBytes = size_t{64} << 10;
    void* memory_ = nullptr;
};

// The child of a fork runs this again if a thread of the parent was running it. Then the handler of
// the parent may be installed already, and is not an earlier one.
void KeepEarlierHandler(int signal, struct sigaction* before) {
    struct sigaction installed {};
    if (sigaction(signal, nullptr, &installed) == 0 && installed.sa_sigaction != &HandleSignal) {
        *before = installed;
    }
}

}  // namespace

void InstallGuardHandler() {
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction action {};
        action.sa_sigaction = &HandleSignal;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        (void)sigemptyset(&action.sa_mask);
        // The earlier handlers are stored before this one can be called.
        KeepEarlierHandler(SIGSEGV, &segvBefore);
        KeepEarlierHandler(SIGBUS, &busBefore);
        (void)sigaction(SIGSEGV, &action, nullptr);
        (void)sigaction(SIGBUS, &action, nullptr);
    });
}

void EnsureAlternateStack() {
    thread_local const AlternateStack stack;
    (void)stack;
}

void DieOfWrittenEdge(const GuardRecord& record, uintptr_t address) {
    Line line;
    line << "advance_step error: guard: ";
    line.Address(address) << " has been written before the free, ";
    Describe(line, record, address);
    Expect(line, record);
    line.Write();
    std::abort();
}

}  // namespace advstep
