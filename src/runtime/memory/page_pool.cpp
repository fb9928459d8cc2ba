// SPDX-License-Identifier: Apache-2.0
// Opens files in memory, and divides them into ranges.

#include "src/runtime/memory/page_pool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <system_error>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/high_descriptor.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/base/no_file_signals.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/fork_records.h"
#include "src/runtime/memory/page_poison.h"

namespace advstep {
namespace {

// A hole costs a system call now and new pages later, so small free ranges keep their pages.
constexpr size_t kHoleBytes = size_t{128} << 10;

uint64_t WholeUnits(uint64_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

uint64_t ProcessLimit(decltype(RLIMIT_FSIZE) resource) {
    rlimit limit{};
    return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

// Returns the failure of a system call, by errno. Memory is not what every one of them lacks.
Status HostCannot(size_t bytes) {
    const int wrong = errno;
    if (wrong == EMFILE) {
        return Error(
            ACL_ERROR_RT_MEMORY_ALLOCATION,
            "size is {} bytes, for which a file in memory has to be opened; expected fewer "
            "open files than the process may have ({}, ulimit -n)",
            bytes, ProcessLimit(RLIMIT_NOFILE));
    }
    if (wrong == EFBIG) {
        return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     "size is {} bytes, for which a file in memory has to be so large; expected at "
                     "most the size that files of the process may have ({} bytes, ulimit -f)",
                     bytes, ProcessLimit(RLIMIT_FSIZE));
    }
    return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                 "size is {} bytes; expected no more than the host can give ({})", bytes,
                 std::generic_category().message(wrong));
}

// Sets the size of a new file: `usual` bytes, or as many as files of the process may have, but at
// least `least`.
Status SizeFile(PageFile* file, size_t least, size_t usual) {
    file->bytes = WholeUnits(usual, PagePool::kPage);
    if (SetFileSize(file->descriptor, file->bytes)) {
        return {};
    }
    if (errno == EFBIG) {
        const uint64_t limit = ProcessLimit(RLIMIT_FSIZE) / PagePool::kPage * PagePool::kPage;
        if (limit >= least && limit < file->bytes) {
            file->bytes = limit;
            if (SetFileSize(file->descriptor, limit)) {
                return {};
            }
        }
        errno = EFBIG;
    }
    return HostCannot(least);
}

bool PunchHole(int descriptor, uint64_t offset, size_t bytes) {
    const NoCancellation noCancellation;
    int result = 0;
    do {
        result = fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                           static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

// A large page of which a part is a hole now, or elsewhere, has been parted by the host.
void ForgetLargePages(const PageRange& range, size_t bytes) {
    if (range.file->asked != nullptr) {
        const size_t end = (range.offset + bytes + kLargePage - 1) / kLargePage;
        for (size_t page = range.offset / kLargePage; page < end; ++page) {
            range.file->asked[page].store(false, std::memory_order_relaxed);
        }
    }
}

int OpenPages() {
    return OpenHigh([] { return memfd_create("advance_step", MFD_CLOEXEC | MFD_ALLOW_SEALING); });
}

// Nobody can change the size of the file from now on, nor seal it against writes.
Status SealFile(PageFile* file) {
    if (fcntl(file->descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        return HostCannot(file->bytes);
    }
    file->forkDescriptor = EnterForkDescriptor(file->descriptor);
    return {};
}

// Maps the pages of the pool's file at the addresses of the range. They replace a whole mapping.
bool RestoreMapping(const PageRange& range) noexcept {
    void* const address = range.file->base + range.offset;
    if (mmap(address, range.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             range.file->descriptor, static_cast<off_t>(range.offset)) == MAP_FAILED) {
        return false;
    }
    (void)madvise(address, range.bytes, MADV_HUGEPAGE);
    return true;
}

struct Pools {
    PagePool mapped{PagePool::Addresses::kMapped};
    PagePool unmapped{PagePool::Addresses::kNone};
};

Pools& ThePools() {
    static NeverDestroyed<Pools> pools;
    return *pools;
}

}  // namespace

PageFile::~PageFile() {
    ForgetForkRecord(forkRange);
    ForgetForkRecord(forkDescriptor);
    if (base != nullptr) {
        UnpoisonPages(base, bytes);
        ReleaseAddresses(base, bytes);
    }
    if (descriptor >= 0) {
        const NoCancellation noCancellation;
        (void)close(descriptor);
    }
}

// Only pools of tests are destroyed, with all ranges free.
PagePool::~PagePool() {
    for (const FreePages& entry : free_) {
        if (entry.range->before == nullptr && entry.range->after == nullptr) {
            delete entry.range->file;
        }
        delete entry.range;
    }
}

Status PagePool::Take(size_t bytes, size_t alignment, PageRange** range) {
    bytes = WholeUnits(bytes, kUnit);
    const std::lock_guard<std::mutex> lock(mutex_);
    uint64_t offset = 0;
    PageRange* found = FindFit(bytes, alignment, &offset);
    if (found == nullptr) {
        // AddFile returns the new range, because a look-up could find a free range of another file
        // that is large enough and badly aligned.
        ADVSTEP_RETURN_IF_ERROR(AddFile(bytes, &found));
        offset = 0;
    }
    Carve(found, offset, bytes);
    if (spare_ != nullptr && spare_->file == found->file) {
        spare_ = nullptr;
    }
    if (found->file->base != nullptr) {
        UnpoisonPages(Address(*found), bytes);
    }
    *range = found;
    return {};
}

// Returns the smallest free range that is large enough. If the aligned bytes do not fit into it,
// returns the smallest one that is larger by the alignment.
PageRange* PagePool::FindFit(size_t bytes, size_t alignment, uint64_t* offset) const {
    for (const size_t wanted : {bytes, bytes + alignment}) {
        const auto found = free_.lower_bound({wanted, nullptr});
        if (found == free_.end()) {
            return nullptr;
        }
        PageRange* const range = found->range;
        *offset = WholeUnits(range->offset, alignment);
        if (*offset + bytes <= range->offset + range->bytes) {
            return range;
        }
    }
    return nullptr;
}

Status PagePool::AddFile(size_t bytes, PageRange** range) {
    if (bytes > static_cast<size_t>(std::numeric_limits<off_t>::max()) - kLargePage) {
        errno = EFBIG;
        return HostCannot(bytes);
    }
    auto file = std::make_unique<PageFile>();
    auto whole = std::make_unique<PageRange>();
    file->descriptor = OpenPages();
    if (file->descriptor < 0) {
        return HostCannot(bytes);
    }
    ADVSTEP_RETURN_IF_ERROR(SizeFile(file.get(), bytes, std::max(bytes, kFileBytes)));
    ADVSTEP_RETURN_IF_ERROR(SealFile(file.get()));
    if (addresses_ == Addresses::kMapped) {
        file->asked = std::make_unique<std::atomic<bool>[]>(file->bytes / kLargePage + 1);
        void* const base = ReserveAddresses(nullptr, file->bytes, kLargePage);
        if (base == nullptr) {
            errno = ENOMEM;
            return HostCannot(bytes);
        }
        file->base = static_cast<uint8_t*>(base);
        ADVSTEP_RETURN_IF_ERROR(MapAt(base, file->bytes, file->descriptor, 0));
        file->forkRange = EnterForkRange(base, file->bytes, file->descriptor, 0);
        // The hint saves TLB misses where the host heeds it for files; elsewhere AskForLargePages
        // asks.
        (void)madvise(base, file->bytes, MADV_HUGEPAGE);
    }
    whole->file = file.get();
    whole->bytes = file->bytes;
    free_.insert({whole->bytes, whole.get()});
    (void)file.release();
    *range = whole.release();
    return {};
}

// Takes [offset, offset + bytes) out of a free range. It allocates before it changes anything.
void PagePool::Carve(PageRange* range, uint64_t offset, size_t bytes) {
    const size_t front = offset - range->offset;
    const size_t back = range->bytes - front - bytes;
    auto first = front > 0 ? std::make_unique<PageRange>() : nullptr;
    auto last = back > 0 ? std::make_unique<PageRange>() : nullptr;
    // The nodes of the parts are made in another set, because free_ is ordered by the final size.
    std::set<FreePages> made;
    if (first != nullptr) {
        made.insert({0, first.get()});
    }
    if (last != nullptr) {
        made.insert({0, last.get()});
    }
    const uint64_t whole = range->offset;
    const size_t touched = range->touched;
    const auto enter = [&](std::unique_ptr<PageRange> part, uint64_t begin, size_t size,
                           PageRange* before, PageRange* after) {
        auto node = made.extract({0, part.get()});
        const size_t ahead = begin - whole;
        part->touched = touched > ahead ? std::min(touched - ahead, size) : 0;
        touchedBytes_ += part->touched;
        part->file = range->file;
        part->offset = begin;
        part->bytes = size;
        part->before = before;
        part->after = after;
        if (before != nullptr) {
            before->after = part.get();
        }
        if (after != nullptr) {
            after->before = part.get();
        }
        node.value() = {size, part.get()};
        free_.insert(std::move(node));
        (void)part.release();
    };
    range->node = free_.extract({range->bytes, range});
    touchedBytes_ -= touched;
    range->offset = offset;
    range->bytes = bytes;
    range->taken = true;
    if (first != nullptr) {
        enter(std::move(first), whole, front, range->before, range);
    }
    if (last != nullptr) {
        enter(std::move(last), offset + bytes, back, range, range->after);
    }
}

Status PagePool::MakeAlone(PageRange* range, size_t content, std::vector<PagePlace> places) {
    if (range->own != nullptr) {
        return {};
    }
    if (range->bytes == range->file->bytes) {
        const std::lock_guard<std::mutex> lock(mutex_);
        range->file->exported = true;
        if (content < range->bytes &&
            !PunchHole(range->file->descriptor, content, range->bytes - content)) {
            return HostCannot(range->bytes);
        }
        return {};
    }
    auto own = std::make_unique<PageFile>();
    own->bytes = range->bytes;
    own->descriptor = OpenPages();
    if (own->descriptor < 0 || !SetFileSize(own->descriptor, own->bytes)) {
        return HostCannot(range->bytes);
    }
    ADVSTEP_RETURN_IF_ERROR(SealFile(own.get()));
    if (addresses_ == Addresses::kMapped) {
        places = {{Address(*range), 0, range->bytes, &own->forkRange}};
    }
    const PageMove move{range->file->descriptor, range->offset,    range->bytes, content,
                        own->descriptor,         std::move(places)};
    ADVSTEP_RETURN_IF_ERROR(MovePages(move));
    if (addresses_ == Addresses::kMapped) {
        (void)madvise(Address(*range), range->bytes, MADV_HUGEPAGE);
        ForgetLargePages(*range, range->bytes);
    }
    range->own = std::move(own);
    (void)PunchHole(range->file->descriptor, range->offset, range->bytes);
    return {};
}

// Maps the pool's file at the addresses again. If the host cannot, nobody gets the range again.
void PagePool::LeaveOwnFile(PageRange* range) noexcept {
    if (addresses_ == Addresses::kMapped) {
        if (!RestoreMapping(*range)) {
            return;
        }
        ForgetLargePages(*range, range->bytes);
    }
    range->own.reset();
}

void PagePool::GiveBack(PageRange* range) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool hole = range->own != nullptr;  // of the pool's file
    if (hole) {
        LeaveOwnFile(range);
    }
    // A range that would not hold zeros goes to nobody again.
    if (range->own != nullptr ||
        (addresses_ == Addresses::kNone &&
         !PunchHole(range->file->descriptor, range->offset, range->bytes))) {
        return;
    }
    if (addresses_ == Addresses::kMapped) {
        PoisonPages(Address(*range), range->bytes);
    }
    range->taken = false;
    range->touched = hole || addresses_ == Addresses::kNone ? 0 : range->bytes;
    touchedBytes_ += range->touched;
    auto node = std::move(range->node);
    if (PageRange* const after = range->after; after != nullptr && !after->taken) {
        (void)free_.extract({after->bytes, after});
        range = Join(range, after);
    }
    if (PageRange* const before = range->before; before != nullptr && !before->taken) {
        (void)free_.extract({before->bytes, before});
        range = Join(before, range);
    }
    if (touchedBytes_ > kMostTouched && range->touched >= kHoleBytes &&
        PunchHole(range->file->descriptor, range->offset, range->touched)) {
        ForgetLargePages(*range, range->touched);
        touchedBytes_ -= range->touched;
        range->touched = 0;
    }
    node.value() = {range->bytes, range};
    free_.insert(std::move(node));
    CloseIfEmpty(range);
}

// Joins two free neighbours, which are not in free_, and deletes the second.
PageRange* PagePool::Join(PageRange* first, PageRange* second) noexcept {
    const size_t before = first->touched + second->touched;
    if (second->touched > 0) {
        first->touched = first->bytes + second->touched;
    }
    touchedBytes_ += first->touched - before;
    first->bytes += second->bytes;
    first->after = second->after;
    if (second->after != nullptr) {
        second->after->before = first;
    }
    delete second;
    return first;
}

void PagePool::CloseIfEmpty(PageRange* range) noexcept {
    if (range->bytes != range->file->bytes) {
        return;
    }
    if (spare_ == nullptr && range->bytes == kFileBytes && !range->file->exported) {
        spare_ = range;
        return;
    }
    (void)free_.extract({range->bytes, range});
    touchedBytes_ -= range->touched;
    delete range->file;
    delete range;
}

int PagePool::FileOf(const PageRange& range) {
    return (range.own != nullptr ? range.own.get() : range.file)->descriptor;
}

uint64_t PagePool::OffsetOf(const PageRange& range) {
    return range.own != nullptr ? 0 : range.offset;
}

void* PagePool::Address(const PageRange& range) { return range.file->base + range.offset; }

Status PagePool::MapAt(void* address, size_t bytes, int file, uint64_t offset) {
    void* const mapped = mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                              static_cast<off_t>(offset));
    return mapped == MAP_FAILED ? HostCannot(bytes) : Status();
}

PagePool& TheMappedPages() { return ThePools().mapped; }

PagePool& TheUnmappedPages() { return ThePools().unmapped; }

bool SetFileSize(int descriptor, size_t bytes) {
    const NoCancellation noCancellation;
    const NoFileSignals noSignals;
    return ftruncate(descriptor, static_cast<off_t>(bytes)) == 0;
}

}  // namespace advstep
