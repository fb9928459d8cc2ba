#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "op_kernel/common/kernel.h"

namespace advstep {

/// What the operators have done on a device. Launches on several threads add at the same time; each
/// number is right by itself, and all of them are once the launches have been waited for.
class DeviceCounters {
 public:
    struct Values {
        uint64_t launches = 0;
        LaunchCounts done;
        uint64_t noProgress = 0;
        uint64_t dataErrors = 0;
    };

    void AddSuccess(const LaunchCounts& counts) {
        const Turn turn(this);
        Add(&launches_, 1);
        Add(&advanced_, counts.advanced);
        Add(&padded_, counts.padded);
        Add(&released_, counts.released);
        Add(&needed_, counts.needed);
        Add(&preempted_, counts.preempted);
        Add(&dispatched_, counts.dispatched);
        Add(&recovered_, counts.recovered);
    }

    /// `noProgress`: for want of blocks; otherwise for bad data.
    void AddFailure(bool noProgress) {
        const Turn turn(this);
        Add(&launches_, 1);
        Add(noProgress ? &noProgress_ : &dataErrors_, 1);
    }

    Values Read() const {
        Values values;
        values.launches = Get(launches_);
        values.done.advanced = static_cast<int64_t>(Get(advanced_));
        values.done.padded = static_cast<int64_t>(Get(padded_));
        values.done.released = static_cast<int64_t>(Get(released_));
        values.done.needed = static_cast<int64_t>(Get(needed_));
        values.done.preempted = static_cast<int64_t>(Get(preempted_));
        values.done.dispatched = static_cast<int64_t>(Get(dispatched_));
        values.done.recovered = static_cast<int64_t>(Get(recovered_));
        values.noProgress = Get(noProgress_);
        values.dataErrors = Get(dataErrors_);
        return values;
    }

    void Reset() {
        const Turn turn(this);
        for (Counter* counter :
             {&launches_, &advanced_, &padded_, &released_, &needed_, &preempted_, &dispatched_,
              &recovered_, &noProgress_, &dataErrors_}) {
            counter->store(0, std::memory_order_relaxed);
        }
    }

 private:
    using Counter = std::atomic<uint64_t>;

    /// Whoever changes the counters: one at a time, for a few instructions. One exchange costs less
    /// than an addition that is atomic by itself for each counter.
    class Turn {
     public:
        explicit Turn(DeviceCounters* counters) : counters_(counters) {
            while (counters_->changing_.exchange(true, std::memory_order_acquire)) {
                std::this_thread::yield();
            }
        }
        ~Turn() { counters_->changing_.store(false, std::memory_order_release); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

     private:
        DeviceCounters* counters_;
    };

    // In the caller's turn.
    static void Add(Counter* counter, int64_t more) {
        if (more != 0) {
            counter->store(Get(*counter) + static_cast<uint64_t>(more), std::memory_order_relaxed);
        }
    }
    static uint64_t Get(const Counter& counter) { return counter.load(std::memory_order_relaxed); }

    std::atomic<bool> changing_{false};
    Counter launches_{0}, advanced_{0}, padded_{0}, released_{0}, needed_{0}, preempted_{0},
        dispatched_{0}, recovered_{0}, noProgress_{0}, dataErrors_{0};
};

}  // namespace advstep
