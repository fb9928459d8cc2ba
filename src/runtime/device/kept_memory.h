#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace advstep {

/// What the unified buffers of a device's cores keep from one phase of a launch to the next, as one
/// piece of memory. One launch at a time has it: `taken_` hands it over, with what it points to.
class KeptMemory {
 public:
    /// About the unified buffers of 40 vector cores; a launch that would keep more keeps this much.
    static constexpr int64_t kMostBytes = int64_t{8} << 20;

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

    /// Up to so many bytes until the end of the lease. Nothing while another launch has them, or
    /// when the host is out of memory.
    Lease Borrow(int64_t bytes);

    /// Gives the memory back to the host. No lease is out.
    void Free();

 private:
    std::atomic<bool> taken_{false};
    std::unique_ptr<unsigned char[]> memory_;  // grows, and stays
    int64_t size_ = 0;
};

}  // namespace advstep
