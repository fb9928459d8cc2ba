// SPDX-License-Identifier: Apache-2.0
// The memory that an engine has registered, and the copies from and to it.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "acl/acl.h"
#include "src/adxl/outcome.h"

namespace advstep::transfer {

/// A range of addresses of one process.
struct Range {
    uint64_t address;
    uint64_t bytes;
};

/// Registered ranges. Nothing else is read or written: each piece of a copy looks for a
/// registration anew, and a registration that ends waits for the pieces that use it. A piece waits
/// for nothing but the processor.
class RegisteredMemory {
 public:
    /// `handle` is a number that is not used again, so a stale one is known.
    Outcome Register(const adxl::MemDesc& mem, adxl::MemType type, adxl::MemHandle* handle);
    Outcome Deregister(adxl::MemHandle handle);
    void Clear();

    /// Returns whether the range lies inside one registration.
    bool Holds(const Range& range);
    enum class Way {
        kFrom,  // out of registered memory
        kTo,
    };
    /// Copies a piece between registered memory and `bytes`. FAILED: it is not registered any more,
    /// or acl refuses the copy.
    Outcome Copy(Way way, const Range& piece, char* bytes);

 private:
    struct Region {
        Range range;
        bool isDevice;
        aclrtContext context;  // of the thread that registered it, for device memory
        int users = 0;         // pieces that are being copied
    };

    std::shared_ptr<Region> FindLocked(const Range& range) const;

    // Guards all members and the users of regions. acl's locks are not taken under it.
    std::mutex mutex_;
    std::condition_variable unused_;
    std::map<uint64_t, std::shared_ptr<Region>> regions_;                // by handle
    std::multimap<uint64_t, std::shared_ptr<Region>> regionsByAddress_;  // the same
    uint64_t lastHandle_ = 0;
};

/// Bytes of several ranges in their order, as one stream.
class RangeStream {
 public:
    RangeStream(RegisteredMemory& memory, const std::vector<Range>& ranges)
        : memory_(memory), ranges_(ranges) {}

    /// Copies the next `count` bytes, which the ranges still have.
    Outcome Copy(RegisteredMemory::Way way, char* bytes, size_t count);

 private:
    RegisteredMemory& memory_;
    const std::vector<Range>& ranges_;
    size_t range_ = 0;
    uint64_t offset_ = 0;  // in that range
};

constexpr size_t kPieceBytes = 256 * 1024;  // of a stream; its two copies stay in the cache

}  // namespace advstep::transfer
