// SPDX-License-Identifier: Apache-2.0
// Closes and opens pages, and notes the faults of the host there.

#include "src/runtime/sanitizer/watched_pages.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "src/base/crash_signal.h"
#include "src/base/fork.h"
#include "src/base/open_file.h"
#include "src/base/sanitizer.h"
#include "src/base/sanitizer_scope.h"
#include "src/runtime/sanitizer/inside_host_function.h"
#include "src/runtime/task/running_work.h"

namespace advstep {
namespace {

constexpr uintptr_t kPageBytes = 4096;

// The signal handler makes kClosed kNoting, and that kNoted or kOpened once the pages are open; all
// else happens under the caller's lock. A free one keeps its pages, because a thread may see its
// signal late.
enum class State : int { kFree, kClosed, kNoting, kNoted, kOpened };

struct WatchedSlot {
    std::atomic<State> state{State::kFree};
    std::atomic<uintptr_t> begin{0};  // pages
    std::atomic<uintptr_t> end{0};
    std::atomic<bool> written{false};
    WatchedUse use;
    // Of kNoted.
    uintptr_t address = 0;
    bool writes = false;
    pid_t thread = 0;
    CallStack stack;
};

WatchedSlot watchedSlots[WatchedPages::kMostUses];
std::atomic<size_t> slotsInUse{0};  // all slots behind have always been free
std::atomic<bool> anyNoted{false};
std::atomic<int> ownMemory{-1};  // /proc/self/mem

bool Protect(uintptr_t begin, uintptr_t end, int protection) {
    return mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
}

int ProtectionFor(bool written) { return written ? PROT_NONE : PROT_READ; }

// The child has the parent's memory with the pages closed, and its hooks run before it goes on.
const ForkHook openInTheChild([](void*) noexcept {
    for (WatchedSlot& slot : watchedSlots) {
        const uintptr_t begin = slot.begin.load();
        if (slot.state.load() != State::kFree && begin != 0) {
            (void)Protect(begin, slot.end.load(), PROT_READ | PROT_WRITE);
        }
        slot.state.store(State::kFree);
        new (&slot.use) WatchedUse;  // the parent's threads may have been changing the old one
    }
    anyNoted.store(false);
    // The descriptor is of the parent's memory.
    const int file = ownMemory.exchange(-1);
    if (file >= 0) {
        (void)close(file);
    }
});

// The functions from here to SettleAccess run in the signal handler.

#if defined(__x86_64__)
uintptr_t InstructionAt(const ucontext_t& context) {
    return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}
bool IsWrite(const ucontext_t& context) { return (context.uc_mcontext.gregs[REG_ERR] & 2) != 0; }
#elif defined(__aarch64__)
uintptr_t InstructionAt(const ucontext_t& context) { return context.uc_mcontext.pc; }
// The syndrome register is a record behind the other registers; its bit 6 tells writes.
bool IsWrite(const ucontext_t& context) {
    const auto* record = reinterpret_cast<const _aarch64_ctx*>(context.uc_mcontext.__reserved);
    while (record->magic != 0 && record->magic != ESR_MAGIC && record->size != 0) {
        record = reinterpret_cast<const _aarch64_ctx*>(reinterpret_cast<const char*>(record) +
                                                       record->size);
    }
    return record->magic == ESR_MAGIC &&
           (reinterpret_cast<const esr_context*>(record)->esr & (1U << 6)) != 0;
}
#else
#error "the registers of a fault are unknown"
#endif

// Returns whether the word around an address can be written: a call that changes nothing there
// tries it in the kernel.
bool IsOpen(uintptr_t address) {
    uint32_t unused = 0;
    constexpr int kOrZero = FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0);
    return syscall(SYS_futex, &unused, FUTEX_WAKE_OP_PRIVATE, 0, nullptr,
                   reinterpret_cast<uint32_t*>(address / 4 * 4), kOrZero) >= 0;
}

// Work of a stream is told of by its uses, and calls of the host are too.
bool IsOfLibrary() {
    return SanitizerScope::Entered() ||
           (RunningWork::innermost != nullptr && InsideHostFunction::Innermost() == nullptr);
}

void OpenPages(const WatchedSlot& slot) {
    (void)Protect(slot.begin.load(), slot.end.load(), PROT_READ | PROT_WRITE);
}

// Opens the pages for an access of the program, which it notes, or of the library.
void SettleClosed(WatchedSlot* slot, uintptr_t address, const ucontext_t& context) {
    const bool noted = !IsOfLibrary();
    if (noted) {
        slot->address = address;
        slot->writes = IsWrite(context);
        slot->thread = static_cast<pid_t>(syscall(SYS_gettid));
        slot->stack = CallStack::At(InstructionAt(context));
    }
    OpenPages(*slot);
    slot->state.store(noted ? State::kNoted : State::kOpened, std::memory_order_release);
    if (noted) {
        anyNoted.store(true, std::memory_order_release);
    }
}

bool SettleAccess(const siginfo_t& info, const void* context) {
    const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
    if (info.si_code != SEGV_ACCERR) {
        return false;
    }
    const auto& registers = *static_cast<const ucontext_t*>(context);
    bool known = false;
    bool mayRead = false;
    const size_t count = slotsInUse.load(std::memory_order_acquire);
    for (size_t i = 0; i < count; ++i) {
        WatchedSlot& slot = watchedSlots[i];
        if (address < slot.begin.load() || address >= slot.end.load()) {
            continue;
        }
        known = true;
        State state = State::kClosed;
        if (!slot.written.load() && !IsWrite(registers)) {
            mayRead = true;
        } else if (slot.state.compare_exchange_strong(state, State::kNoting)) {
            SettleClosed(&slot, address, registers);
            return true;
        } else if (state == State::kNoting) {
            return true;  // another thread is about to open the pages
        }
    }
    return mayRead || (known && IsOpen(address));  // another thread has opened the pages
}

// Pages that other uses have closed as well stay so.
void CloseOthers(const WatchedSlot& opened) {
    for (const bool written : {false, true}) {
        for (const WatchedSlot& slot : watchedSlots) {
            const uintptr_t begin = std::max(slot.begin.load(), opened.begin.load());
            const uintptr_t end = std::min(slot.end.load(), opened.end.load());
            if (&slot != &opened && begin < end && slot.written.load() == written &&
                slot.state.load() == State::kClosed) {
                (void)Protect(begin, end, ProtectionFor(written));
            }
        }
    }
}

bool MeetsClosed(uintptr_t begin, size_t bytes) {
    const size_t count = slotsInUse.load(std::memory_order_acquire);
    return std::any_of(watchedSlots, watchedSlots + count, [&](const WatchedSlot& slot) {
        return slot.state.load() == State::kClosed && slot.begin.load() < begin + bytes &&
               begin < slot.end.load();
    });
}

// Copies by reads and writes of the process's own memory, which no protection hinders. Returns how
// many bytes it has copied.
size_t MoveByKernel(int file, unsigned char* to, const unsigned char* from, size_t bytes) {
    unsigned char part[16384];
    size_t done = 0;
    while (done < bytes) {
        const ssize_t got = pread(file, part, std::min(sizeof(part), bytes - done),
                                  static_cast<off_t>(reinterpret_cast<uintptr_t>(from + done)));
        if (got <= 0 || pwrite(file, part, static_cast<size_t>(got),
                               static_cast<off_t>(reinterpret_cast<uintptr_t>(to + done))) != got) {
            break;
        }
        done += static_cast<size_t>(got);
    }
    return done;
}

}  // namespace

void WatchedPages::Start() {
    if (ownMemory.load() < 0) {
        ownMemory.store(OpenFile("/proc/self/mem", O_RDWR));
    }
}

const WatchedUse* WatchedPages::UseAt(size_t use) {
    const State state = watchedSlots[use].state.load();
    return state == State::kClosed || state == State::kOpened ? &watchedSlots[use].use : nullptr;
}

void WatchedPages::Watch(uintptr_t begin, uintptr_t end, bool written, WatchedUse use) {
    begin = (begin + kPageBytes - 1) / kPageBytes * kPageBytes;
    end = end / kPageBytes * kPageBytes;
    if (begin >= end || !SettleFaults(&SettleAccess)) {
        return;
    }
    WatchedSlot* free = nullptr;
    for (WatchedSlot& slot : watchedSlots) {
        const State state = slot.state.load();
        if (state == State::kClosed && slot.begin.load() == begin && slot.end.load() == end &&
            slot.written.load() == written && slot.use.stream == use.stream) {
            slot.use = std::move(use);  // the stream's later copy ends later
            return;
        }
        if (state == State::kFree && free == nullptr) {
            free = &slot;
        }
    }
    if (free == nullptr) {
        return;
    }
    free->begin.store(begin);
    free->end.store(end);
    free->written.store(written);
    free->use = std::move(use);
    const auto after = static_cast<size_t>(free - watchedSlots) + 1;
    if (slotsInUse.load() < after) {
        slotsInUse.store(after, std::memory_order_release);
    }
    ++used_;
    free->state.store(State::kClosed);
    if (!Protect(begin, end, ProtectionFor(written))) {
        Open(after - 1);
        return;
    }
    CloseOthers(*free);
}

void WatchedPages::Open(size_t use) {
    WatchedSlot& slot = watchedSlots[use];
    State state = State::kClosed;
    if (!slot.state.compare_exchange_strong(state, State::kOpened) && state != State::kOpened) {
        return;  // an access is noted, and TakeNoted ends it
    }
    OpenPages(slot);
    slot.use = {};
    slot.state.store(State::kFree);
    --used_;
    CloseOthers(slot);
}

void WatchedPages::OpenRange(uintptr_t begin, uintptr_t end) {
    for (size_t use = 0; used_ > 0 && use < kMostUses; ++use) {
        WatchedSlot& slot = watchedSlots[use];
        if (UseAt(use) != nullptr && slot.begin.load() < end && begin < slot.end.load()) {
            Open(use);
        }
    }
}

bool WatchedPages::HasNoted() { return anyNoted.load(std::memory_order_acquire); }

std::vector<HostAccess> WatchedPages::TakeNoted() {
    std::vector<HostAccess> noted;
    anyNoted.store(false);
    for (WatchedSlot& slot : watchedSlots) {
        if (slot.state.load(std::memory_order_acquire) == State::kNoted) {
            noted.push_back(
                {std::move(slot.use), slot.address, slot.writes, slot.thread, slot.stack});
            slot.use = {};
            slot.state.store(State::kFree);
            --used_;
        }
    }
    return noted;
}

void WatchedPages::Move(void* to, const void* from, size_t bytes) {
    auto* target = static_cast<unsigned char*>(to);
    const auto* source = static_cast<const unsigned char*>(from);
    const int file = ownMemory.load(std::memory_order_relaxed);
    const bool overlap = target < source + bytes && source < target + bytes;
    if (Sanitizing(SanitizerCheck::kHost) && file >= 0 && !overlap &&
        (MeetsClosed(reinterpret_cast<uintptr_t>(target), bytes) ||
         MeetsClosed(reinterpret_cast<uintptr_t>(source), bytes))) {
        const size_t done = MoveByKernel(file, target, source, bytes);
        target += done;
        source += done;
        bytes -= done;
    }
    std::memmove(target, source, bytes);
}

}  // namespace advstep
