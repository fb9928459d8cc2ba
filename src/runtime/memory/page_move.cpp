// SPDX-License-Identifier: Apache-2.0
// Holds writers back by a read-only mapping while pages are copied.

#include "src/runtime/memory/page_move.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <shared_mutex>
#include <system_error>

#include "acl/acl_base.h"
#include "src/base/crash_signal.h"
#include "src/base/fork.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/memory/fork_records.h"

namespace advstep {
namespace {

// The system's number of the thread whose move holds writers back; 0: none does.
std::atomic<long> mover{0};

// The thread that moved pages does not exist in the child, whose hooks map all places anew.
const ForkHook noMover([](void*) noexcept { mover.store(0); });

// A move has it alone.
std::shared_mutex& TheMoves() {
    static NeverDestroyed<std::shared_mutex> mutex;
    return *mutex;
}

// The functions from here to SettleWrite run in the signal handler.

// Returns whether the word around an address can be written: a call that changes nothing there
// tries it in the kernel.
bool Writable(uintptr_t address) {
    uint32_t unused = 0;
    constexpr int kOrZero = FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0);
    return syscall(SYS_futex, &unused, FUTEX_WAKE_OP_PRIVATE, 0, nullptr,
                   reinterpret_cast<uint32_t*>(address / 4 * 4), kOrZero) >= 0;
}

uintptr_t InstructionOf(const void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return machine.pc;
#else
#error "the place of the program counter is unknown"
#endif
}

// A thread that wrote to a place may see its signal only after the move has ended, so what counts
// is whether the address can be written now. An instruction that cannot be fetched is no write.
bool SettleWrite(const siginfo_t& info, const void* context) {
    const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
    if (info.si_code != SEGV_ACCERR || address == InstructionOf(context)) {
        return false;
    }
    for (long other = mover.load(); other != 0; other = mover.load()) {
        if (other == syscall(SYS_gettid)) {
            return false;  // a crash of the move itself
        }
        const timespec some{0, 20000};
        (void)syscall(SYS_nanosleep, &some, nullptr);  // the function could be cancelled
    }
    return Writable(address);
}

// Holds back all signals of the thread.
class AllSignalsBlocked {
 public:
    AllSignalsBlocked() noexcept {
        sigset_t all;
        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~AllSignalsBlocked() { (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    AllSignalsBlocked(const AllSignalsBlocked&) = delete;
    AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
    sigset_t before_;
};

// A mapping of pages of a file at any address.
class SomeMapping {
 public:
    SomeMapping(int file, uint64_t offset, size_t bytes, int rights)
        : address_(mmap(nullptr, bytes, rights, MAP_SHARED, file, static_cast<off_t>(offset))),
          bytes_(bytes) {}
    ~SomeMapping() {
        if (Usable()) {
            (void)munmap(address_, bytes_);
        }
    }
    SomeMapping(const SomeMapping&) = delete;
    SomeMapping& operator=(const SomeMapping&) = delete;

    bool Usable() const { return address_ != MAP_FAILED; }
    uint8_t* At(uint64_t offset) const { return static_cast<uint8_t*>(address_) + offset; }

 private:
    void* const address_;
    const size_t bytes_;
};

// Copies what is no hole, so that pages that nobody has touched take no memory.
bool CopyContent(const PageMove& move, const SomeMapping& from, const SomeMapping& to) {
    const uint64_t end = move.offset + move.content;
    for (uint64_t at = move.offset; at < end;) {
        const off_t data = lseek(move.from, static_cast<off_t>(at), SEEK_DATA);
        if (data < 0 || static_cast<uint64_t>(data) >= end) {
            return data >= 0 || errno == ENXIO;  // ENXIO: the rest is a hole
        }
        const off_t hole = lseek(move.from, data, SEEK_HOLE);
        if (hole < 0) {
            return false;
        }
        const uint64_t begin = static_cast<uint64_t>(data) - move.offset;
        const uint64_t next = std::min(static_cast<uint64_t>(hole), end) - move.offset;
        // The memory is asked for here, because a fault that gets none ends the program.
        if (fallocate(move.to, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                      static_cast<off_t>(next - begin)) != 0) {
            return false;
        }
        std::memcpy(to.At(begin), from.At(begin), next - begin);
        at = move.offset + next;
    }
    return true;
}

// Asks the kernel itself, because the thread sanitizer takes mmap for a write to every byte, which
// would race with the writers; they wait in SettleWrite, and readers find the same content.
bool MapReadOnly(const PagePlace& place, int file, uint64_t offset) {
    return syscall(SYS_mmap, place.address, place.bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file,
                   static_cast<off_t>(offset + place.offset)) != -1;
}

// Maps the copy at all places, or at none. The mappings that this replaces are whole ones, so it
// needs none beside them. If the host takes the first and neither another one nor the first one
// back, the places would differ for ever.
bool MapCopy(const PageMove& move) {
    for (size_t i = 0; i < move.places.size(); ++i) {
        if (MapReadOnly(move.places[i], move.to, 0)) {
            continue;
        }
        const int wrong = errno;
        while (i > 0) {
            if (!MapReadOnly(move.places[--i], move.from, move.offset)) {
                SignalLine line;
                line << "advance_step error: the host maps an exported block at some of its "
                        "addresses only; expected fewer mappings in the process";
                line.Write();
                std::abort();
            }
        }
        errno = wrong;
        return false;
    }
    return true;
}

// Gives writers the rights back, which needs no memory: each place is a mapping of its own.
void LetWrite(const PageMove& move, size_t places) {
    for (size_t i = 0; i < places; ++i) {
        (void)mprotect(move.places[i].address, move.places[i].bytes, PROT_READ | PROT_WRITE);
    }
}

// Moves the pages while nobody writes to them. False: errno has the cause.
bool MoveNow(const PageMove& move, const SomeMapping& from, const SomeMapping& to,
             const std::vector<ForkRecord*>& fresh) {
    const AllSignalsBlocked blocked;
    mover.store(syscall(SYS_gettid));
    size_t held = 0;
    while (held < move.places.size() &&
           mprotect(move.places[held].address, move.places[held].bytes, PROT_READ) == 0) {
        ++held;
    }
    const bool moved = held == move.places.size() && CopyContent(move, from, to) && MapCopy(move);
    const int wrong = errno;
    if (moved) {
        for (size_t i = 0; i < fresh.size(); ++i) {
            PutInPlace(fresh[i], *move.places[i].record);
        }
    }
    LetWrite(move, held);
    mover.store(0);
    errno = wrong;
    return moved;
}

}  // namespace

PagesStay::PagesStay() noexcept { TheMoves().lock_shared(); }

PagesStay::~PagesStay() { TheMoves().unlock_shared(); }

Status MovePages(const PageMove& move) {
    const NoCancellation noCancellation;
    const std::lock_guard<std::shared_mutex> lock(TheMoves());
    (void)SettleFaults(&SettleWrite);
    std::vector<ForkRecord*> fresh;
    const auto forget = [&fresh] {
        for (ForkRecord* const record : fresh) {
            ForgetForkRecord(record);
        }
    };
    bool moved = false;
    try {
        fresh.reserve(move.places.size());
        for (const PagePlace& place : move.places) {
            fresh.push_back(
                EnterUnusedForkRange(place.address, place.bytes, move.to, place.offset));
        }
        const SomeMapping from(move.from, move.offset, move.bytes, PROT_READ);
        const SomeMapping to(move.to, 0, move.bytes, PROT_READ | PROT_WRITE);
        moved = from.Usable() && to.Usable() && MoveNow(move, from, to, fresh);
    } catch (...) {
        forget();
        throw;
    }
    if (!moved) {
        const int wrong = errno;
        forget();
        return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     "the host cannot move the {} bytes to a file of their own ({}); expected more "
                     "memory, or fewer mappings in the process",
                     move.bytes, std::generic_category().message(wrong));
    }
    for (size_t i = 0; i < fresh.size(); ++i) {
        ForgetForkRecord(*move.places[i].record);
        *move.places[i].record = fresh[i];
    }
    return {};
}

}  // namespace advstep
