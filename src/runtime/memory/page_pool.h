// SPDX-License-Identifier: Apache-2.0
// Pages in files in memory, which other processes can map.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/memory/page_move.h"

namespace advstep {

struct ForkRecord;
struct PageRange;

/// A file in memory, whose pages a pool divides into ranges. Its first range begins at offset 0.
struct PageFile {
    int descriptor = -1;
    size_t bytes = 0;
    uint8_t* base = nullptr;  // null: not mapped
    // Whether the host was asked for a large page, by page; of a mapped file. Any thread sets them,
    // and the pool clears those of a range that it frees of its pages.
    std::unique_ptr<std::atomic<bool>[]> asked;
    bool exported = false;  // other processes may have it, so no other range comes to lie in it
    ForkRecord* forkRange = nullptr;
    ForkRecord* forkDescriptor = nullptr;

    ~PageFile();
};

/// A free range in the order of sizes.
struct FreePages {
    size_t bytes;
    PageRange* range;

    bool operator<(const FreePages& other) const {
        return bytes != other.bytes ? bytes < other.bytes : range < other.range;
    }
};

/// A range of a file in memory. The members belong to the pool.
struct PageRange {
    PageFile* file = nullptr;
    uint64_t offset = 0;
    size_t bytes = 0;
    size_t touched = 0;  // of a free range: only its first `touched` bytes may have pages
    bool taken = false;  // by an owner; else it is free
    std::unique_ptr<PageFile> own;  // has the pages in place of `file`, once they are exported
    PageRange* before = nullptr;
    PageRange* after = nullptr;
    std::set<FreePages>::node_type
        node;  // kept while the range is not free, so that a free needs no memory
};

/// Ranges of files in memory. The files have no names, so nothing is left of them when the last
/// process that has them open ends, however it ends. Many ranges share a file, so a range costs no
/// descriptor, and no memory until it is written.
///
/// A pool of mapped files gives ranges with an address. It keeps the pages of free ranges, up to
/// kMostTouched bytes, so that the next blocks need no new ones: pages of a file cost several times
/// what pages of the heap cost. Beyond that a free range becomes a hole in its file, unless it is
/// small. A pool without addresses makes a hole of each. mutex_ guards everything; no lock is taken
/// after it, except the one of the fork records.
///
/// Files have the seals F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_SEAL, so their size is for ever.
/// Pages that other processes get are alone in a file (MakeAlone), which lives until its last
/// process is gone, and never hold anything else afterwards.
class PagePool {
 public:
    enum class Addresses { kNone, kMapped };

    explicit PagePool(Addresses addresses) : addresses_(addresses) {}
    PagePool(const PagePool&) = delete;
    PagePool& operator=(const PagePool&) = delete;
    ~PagePool();

    /// Takes a range. A range without an address holds zeros; the contents of others are undefined.
    /// `bytes` and `alignment` are multiples of kUnit. 207001: the host has no memory for it.
    Status Take(size_t bytes, size_t alignment, PageRange** range);
    /// Puts the range, whose first `content` bytes have been handed out, alone into a file, if it
    /// is not yet. Its other bytes are zero there. `places` are where the owner has mapped a range
    /// without an address. Threads may read and write the range meanwhile (MovePages); the caller
    /// keeps it taken and mapped. 207001: the host has no memory or descriptor for it.
    Status MakeAlone(PageRange* range, size_t content, std::vector<PagePlace> places);
    /// Frees the range.
    void GiveBack(PageRange* range) noexcept;

    /// Returns the descriptor of the file that has the range's pages, and their place in it.
    static int FileOf(const PageRange& range);
    static uint64_t OffsetOf(const PageRange& range);
    /// Returns the address of a range of mapped files.
    static void* Address(const PageRange& range);

    /// Maps pages of a file at the address, in place of what is mapped there. 207001: the host
    /// cannot map them.
    static Status MapAt(void* address, size_t bytes, int file, uint64_t offset);

    static constexpr size_t kUnit = 64;
    static constexpr size_t kPage = 4096;  // other processes map whole pages

 private:
    static constexpr size_t kFileBytes = size_t{256} << 20;
    static constexpr size_t kMostTouched = size_t{64} << 20;

    Status AddFile(size_t bytes, PageRange** range);
    PageRange* FindFit(size_t bytes, size_t alignment, uint64_t* offset) const;
    void Carve(PageRange* range, uint64_t offset, size_t bytes);
    void LeaveOwnFile(PageRange* range) noexcept;
    PageRange* Join(PageRange* first, PageRange* second) noexcept;
    void CloseIfEmpty(PageRange* range) noexcept;

    const Addresses addresses_;
    std::mutex mutex_;
    std::set<FreePages> free_;
    size_t touchedBytes_ = 0;     // of all free ranges
    PageRange* spare_ = nullptr;  // of an empty file that stays open
};

/// The pool of blocks and of words that processes share.
PagePool& TheMappedPages();
/// The pool of pages that their users map at addresses of their own.
PagePool& TheUnmappedPages();

/// Sets the size of a file. errno has the cause of a failure. A limit of the size of files
/// (RLIMIT_FSIZE) holds for files in memory too. The call fails at the limit and suppresses its
/// signal, which would end the program.
bool SetFileSize(int descriptor, size_t bytes);

}  // namespace advstep
