// SPDX-License-Identifier: Apache-2.0
// The order of a communicator's operators.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "src/hccl/deadline.h"

namespace advstep::hccl {

/// A channel carries one operator at a time: 0 the collectives, the others the messages to a rank
/// and those from it. Operators run in the order in which they were queued, whatever their streams;
/// those of replays come whenever their streams run them.
///
/// mutex_ guards everything; no lock is taken after it.
class Turns {
 public:
    using Channel = uint32_t;
    static constexpr Channel kCollectives = 0;
    static Channel SendsTo(uint32_t rank) { return 1 + 2 * rank; }
    static Channel ReceivesFrom(uint32_t rank) { return 2 + 2 * rank; }

    /// A place in the order of each channel that an operator uses. Without numbers it is that of a
    /// replay.
    struct Place {
        std::vector<Channel> channels;  // each once
        std::vector<uint64_t> numbers;  // as many, or none
    };

    /// Takes the next place in each channel.
    void Number(Place* place);
    /// Gives a place back that no operator has used.
    void Skip(const Place& place) noexcept;

    /// Waits until all channels are the caller's. False: it was stopped, or the deadline has
    /// passed.
    bool Enter(const Place& place, const Deadline& deadline);
    void Leave(const Place& place) noexcept;

    /// Ends all waits, also later ones.
    void Stop() noexcept;

    /// Returns whether an operator is running or queued, except those of replays that have not
    /// begun.
    bool IsBusy() const;

 private:
    struct State {
        bool busy = false;
        uint64_t issued = 0;              // places that were taken
        std::map<uint64_t, bool> places;  // from the one whose turn it is on; true: done
    };

    bool MayEnterLocked(const Place& place) const;
    void DoneLocked(const Place& place) noexcept;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Channel, State> states_;
    bool stopped_ = false;
};

}  // namespace advstep::hccl
