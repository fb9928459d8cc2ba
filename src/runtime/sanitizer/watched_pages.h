// SPDX-License-Identifier: Apache-2.0
// Pages of pinned memory that copies use, in which an access of the host is a fault.

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/base/call_stack.h"
#include "src/runtime/sanitizer/ordered_work.h"

namespace advstep {

/// A copy that the host has not seen the end of, and the part of pinned memory that it uses.
struct WatchedUse {
    std::shared_ptr<const QueuedWork> work;
    size_t use = 0;
    const void* handle = nullptr;  // of the stream, for people
    const void* stream = nullptr;  // its place in the order
    uint64_t sequence = 0;
    std::shared_ptr<const Block> block;
};

/// An access of the host to pages of a use.
struct HostAccess {
    WatchedUse watched;
    uintptr_t address = 0;
    bool writes = false;
    pid_t thread = 0;
    CallStack stack;
};

/// The pages. Those that a copy writes cannot be read nor written by the program, and those that it
/// reads cannot be written, until the host has seen the copy. The first access that finds a page
/// so is noted by the signal handler, which then opens the pages and lets the access go on. The
/// library itself uses such pages by Move. There is room for kMostUses at a time; later ones are
/// not watched.
///
/// The caller's lock guards all calls but Move and HasNoted, which may be made in any thread. The
/// handler takes no lock: it changes the state of a use and fills the fields that belong to it
/// then.
class WatchedPages {
 public:
    static constexpr size_t kMostUses = 512;

    /// Makes Move go through the kernel. Without /proc/self/mem the library's own copies open the
    /// pages.
    static void Start();

    /// Watches the whole pages inside [begin, end). `written`: the copy writes them. A program that
    /// has put its own handler of SIGSEGV before the library's is not watched.
    static void Watch(uintptr_t begin, uintptr_t end, bool written, WatchedUse use);

    /// Opens the pages of the uses for which seen(const WatchedUse&) is true.
    template <typename Seen>
    static void OpenSeen(Seen&& seen) {
        for (size_t use = 0; used_ > 0 && use < kMostUses; ++use) {
            const WatchedUse* const watched = UseAt(use);
            if (watched != nullptr && seen(*watched)) {
                Open(use);
            }
        }
    }
    /// Opens the pages of all uses that meet [begin, end).
    static void OpenRange(uintptr_t begin, uintptr_t end);

    /// Returns whether an access has been noted that TakeNoted has not returned.
    static bool HasNoted();
    static std::vector<HostAccess> TakeNoted();

    /// Copies bytes as memmove, through the kernel where pages are closed.
    static void Move(void* to, const void* from, size_t bytes);

 private:
    static const WatchedUse* UseAt(size_t use);
    static void Open(size_t use);

    static inline size_t used_ = 0;  // uses that are not free
};

}  // namespace advstep
