// SPDX-License-Identifier: Apache-2.0
// Moves pages that are in use to another file in memory, at the same addresses.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/status.h"

namespace advstep {

struct ForkRecord;

/// A place at which some of the moved pages are mapped.
struct PagePlace {
    void* address = nullptr;
    uint64_t offset = 0;  // of its first byte in the moved pages
    size_t bytes = 0;
    /// The place's record for forks; the move puts a new one there. *record null: the place lies in
    /// the range of another record.
    ForkRecord** record = nullptr;
};

/// The pages to move, and the file that gets them. That file has `bytes` bytes, all zero.
struct PageMove {
    int from = -1;
    uint64_t offset = 0;
    size_t bytes = 0;    // whole pages
    size_t content = 0;  // only these first bytes are copied
    int to = -1;
    std::vector<PagePlace> places;  // all that there are in this process
};

/// Copies the pages and maps the copy at all places. Every write of any thread to the places is in
/// the pages that are mapped there afterwards: while the move lasts the places are read-only, and a
/// thread that writes there waits in the handler of SIGSEGV until it is over and then writes. Only
/// a system call that writes there fails meanwhile, with EFAULT. The caller keeps the places and
/// the pages from being unmapped or freed. 207001: the host cannot; nothing has changed.
///
/// One move at a time, under a mutex that is taken last, and none beside a PagesStay. Between the
/// beginning and the end of the read-only time a move waits for nothing, calls nothing that may
/// write to the places, and holds back all signals of its thread.
Status MovePages(const PageMove& move);

/// While it lives no pages move: a move waits for its end, and it waits for a move. Several threads
/// may have one, and threads that clear memory without a pause may hold a move up. The thread
/// writes to no moving place and takes no lock meanwhile.
class PagesStay {
 public:
    PagesStay() noexcept;
    ~PagesStay();
    PagesStay(const PagesStay&) = delete;
    PagesStay& operator=(const PagesStay&) = delete;
};

}  // namespace advstep
