// SPDX-License-Identifier: Apache-2.0
// A logical execution of a program: its tasks in an order that does not depend on time.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/runtime/sanitizer/ordered_work.h"
#include "src/runtime/sanitizer/vector_clock.h"

namespace advstep {

/// A step of a stream: it waits or signals, or is work, or both.
struct OrderStep {
    enum class Kind : uint8_t {
        kWork,
        kWaitForPlace,   // waits for the task `sequence` of stream `other`
        kSet,            // sets the flag `key`
        kTake,           // waits until the flag is set, and unsets it
        kAwaitSet,       // waits until the flag is set
        kUnset,          // unsets the flag
        kWriteWord,      // writes `value` to the word `key`
        kAwaitWord,      // waits until `holds(word, value, flag)`
        kAwaitAnything,  // waits for something that is not known
        kJoin,           // comes after the steps kPublish with the key so far
        kPublish,
    };
    Kind kind = Kind::kWork;
    const void* other = nullptr;
    uint64_t sequence = 0;
    const void* key = nullptr;
    uint64_t value = 0;
    uint32_t flag = 0;
    bool (*holds)(uint64_t word, uint64_t value, uint32_t flag) = nullptr;
    std::shared_ptr<OrderedWork> work;  // null: it touches no memory
};

/// The order of the work of all streams and of the host. Steps are added as the host queues them.
/// A step is passed, and its work gets its clock, as soon as those have been passed that it waits
/// for. So a stream whose wait comes before its record in the host's order is held back until
/// then, and the result is the same in each run. All threads of the host are one: what one has
/// seen, every one has.
///
/// Not thread-safe. Streams are named by any address.
class WorkOrder {
 public:
    /// Called with the work of a step that is passed.
    using Pass = std::function<void(const std::shared_ptr<OrderedWork>& work)>;

    explicit WorkOrder(Pass pass);

    /// Adds a step of the task `sequence` of a stream. Those of one stream come in order.
    void Add(const void* stream, uint64_t sequence, OrderStep step);
    /// Notes that the tasks up to that one have been queued. Those without a step only do this.
    void Queued(const void* stream, uint64_t sequence);

    /// The host has waited for the task, or has seen that it has ended.
    void HostSees(const void* stream, uint64_t sequence);
    /// Returns the last task that is known to be queued.
    uint64_t QueuedOf(const void* stream) const {
        const auto known = numbers_.find(stream);
        return known == numbers_.end() ? 0 : streams_[known->second].queued;
    }

    /// Passes work of the host.
    void HostActs(const std::shared_ptr<OrderedWork>& work);
    /// Passes work that a function of the program does, which is the task of the stream.
    void ActsInside(const void* stream, uint64_t sequence,
                    const std::shared_ptr<OrderedWork>& work);

    /// Unsets a flag from the host.
    void Unset(const void* key);

    /// Returns whether the host has seen the work.
    bool HostHasSeen(const OrderedWork& work) const {
        return host_->At(work.stream) >= work.sequence;
    }

    bool HostHasSeen(const void* stream, uint64_t sequence) const {
        const auto known = numbers_.find(stream);
        return known != numbers_.end() && host_->At(known->second) >= sequence;
    }

    /// Returns whether the work comes before all work that has not been passed.
    bool IsOld(const OrderedWork& work) const {
        return HostHasSeen(work) &&
               std::all_of(holding_.begin(), holding_.end(), [&](size_t stream) {
                   return streams_[stream].held.front().host->At(work.stream) >= work.sequence;
               });
    }
    /// Returns whether steps are held back.
    bool Holds() const { return !holding_.empty(); }

    /// Calls visit(const OrderedWork&) for the work of steps that are held back.
    template <typename Visit>
    void ForEachHeld(Visit&& visit) const {
        for (const Stream& stream : streams_) {
            for (const Held& held : stream.held) {
                if (held.step.work != nullptr) {
                    visit(held.step.work);
                }
            }
        }
    }

 private:
    using Clock = std::shared_ptr<const VectorClock>;
    static constexpr size_t kHost = 0;

    struct Held {
        uint64_t sequence;
        OrderStep step;
        Clock host;  // what the host had seen
    };
    struct Stream {
        uint64_t queued = 0;
        Clock clock;                                    // of the last step that was passed
        Clock host;                                     // that has been joined last
        std::deque<std::pair<uint64_t, Clock>> clocks;  // from that task on
        std::deque<Held> held;
        std::vector<size_t> waiters;  // streams that wait for progress here
        bool forced = false;          // Force is at it
    };
    struct Signal {
        bool set = false;
        VectorClock clock;                                     // of the steps that set it
        std::vector<std::pair<uint64_t, VectorClock>> writes;  // of a word, oldest first
        std::vector<size_t> waiters;
    };

    size_t NumberOf(const void* stream);
    uint64_t PassedUpTo(const Stream& stream) const;
    VectorClock ClockAt(size_t stream, uint64_t sequence) const;
    void Join(size_t stream, uint64_t sequence, const VectorClock& other);
    void JoinEverything(size_t stream, uint64_t sequence);
    void Advance(size_t stream);
    bool TryStep(size_t stream, const Held& held);
    bool TryPlace(size_t stream, const Held& held);
    bool TrySignal(size_t stream, const Held& held);
    bool TryWord(size_t stream, const Held& held, Signal* word);
    void Force(size_t stream, uint64_t sequence);
    void WakeAll(std::vector<size_t>* waiters);
    VectorClock* ChangeHost();

    const Pass pass_;
    std::unordered_map<const void*, size_t> numbers_;
    std::deque<Stream> streams_;  // by number; the host is the first
    std::unordered_map<const void*, Signal> signals_;
    std::shared_ptr<VectorClock> host_;
    std::vector<size_t> ready_;  // streams that Advance has to look at
    std::set<size_t> holding_;   // streams with steps that have not been passed
    uint64_t hostActs_ = 0;
};

}  // namespace advstep
