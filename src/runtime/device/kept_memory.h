// SPDX-License-Identifier: Apache-2.0
// Memory that cores keep from one phase of a launch to the next.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace advstep {

/// One piece of memory in which the unified buffers of a device's cores keep data from one phase of
/// a launch to the next. One launch at a time has it. A release store of `taken_` gives it back,
/// and the acquire exchange of the next launch takes it, so the members need no lock.
class KeptMemory {
 public:
    KeptMemory();

    /// Enough for 32 million rows. A launch that would keep more keeps this much. Real cores have
    /// less, and would read the block table again, which costs a host's memory four times as much.
    static constexpr int64_t kMostBytes = int64_t{256} << 20;

    class Lease {
     public:
        Lease(KeptMemory* owner, int64_t bytes) : owner_(owner), bytes_(bytes) {}
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        ~Lease() {
            if (owner_ != nullptr) {
                owner_->taken_.store(false, std::memory_order_release);
            }
        }
        unsigned char* data() const { return owner_ != nullptr ? owner_->memory_.get() : nullptr; }
        int64_t bytes() const { return bytes_; }

     private:
        KeptMemory* owner_;
        int64_t bytes_;
    };

    /// Lends up to `bytes` bytes until the end of the lease. The lease is empty while another
    /// launch has the memory, or when the host is out of memory.
    Lease Borrow(int64_t bytes);

    /// Gives the memory back to the host. No lease is open.
    void Free();

 private:
    std::atomic<bool> taken_{false};
    std::unique_ptr<unsigned char, void (*)(unsigned char*)> memory_;  // grows; stays until Free
    int64_t size_ = 0;
};

}  // namespace advstep
