// SPDX-License-Identifier: Apache-2.0
// Allocates ranges of the file in memory and maps them.

#include "src/runtime/memory/page_pool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>

#include "acl/acl_base.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/faults/fault_injection.h"

namespace advstep {
namespace {

Status HostCannot(size_t bytes) {
    return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                 "size is {} bytes; expected no more than the host can give ({})", bytes,
                 std::generic_category().message(errno));
}

}  // namespace

PagePool::~PagePool() {
    if (file_ >= 0) {
        (void)close(file_);
    }
}

Status PagePool::Take(size_t bytes, uint64_t* offset) {
    if (AllocationFails(AllocationKind::kMemory)) {
        errno = ENOMEM;
        return HostCannot(bytes);
    }
    if (file_ < 0) {
        file_ = memfd_create("advance_step", MFD_CLOEXEC);
        if (file_ < 0) {
            return HostCannot(bytes);
        }
    }
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<off_t>::max());
    if (bytes > kMost - end_) {
        errno = EFBIG;
        return HostCannot(bytes);
    }
    if (ftruncate(file_, static_cast<off_t>(end_ + bytes)) != 0) {
        return HostCannot(bytes);
    }
    *offset = end_;
    end_ += bytes;
    return {};
}

void PagePool::GiveBack(uint64_t offset, size_t bytes) {
    const NoCancellation noCancellation;
    (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                    static_cast<off_t>(bytes));
}

Status PagePool::MapAt(void* address, size_t bytes, uint64_t offset) const {
    void* const mapped = mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_,
                              static_cast<off_t>(offset));
    return mapped == MAP_FAILED ? HostCannot(bytes) : Status();
}

}  // namespace advstep
