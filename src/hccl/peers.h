// SPDX-License-Identifier: Apache-2.0
// The connections of a rank to the other ranks of a communicator, and what is known of these.

#pragma once

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/hccl/group.h"
#include "src/hccl/lobby.h"

namespace advstep::hccl {

/// The sockets never change after Meet. Each line of a pair carries its own messages: operators use
/// the lines of data, one at a time for each direction (Turns). This class uses the lines of
/// control, on which a rank says that it leaves or has failed. The end of such a line without a
/// word is the end of the process.
class Peers {
 public:
    /// Connects to all ranks of the group: to the lower ones, and from the higher ones.
    /// HCCL_E_TCP_CONNECT or HCCL_E_TIMEOUT: a rank could not be reached, which the message names.
    static Outcome Meet(const Group& group, Lobby* lobby, const Deadline& deadline,
                        std::unique_ptr<Peers>* peers);

    const Socket& Data(Line line, uint32_t rank) const {
        return ranks_[rank].lines[static_cast<size_t>(line)];
    }

    /// Tells all ranks that this one leaves, or has failed. Only the first call has an effect. It
    /// does not block; it may run in any thread.
    void SayGoodbye() noexcept;
    void TellFailure(const Outcome& failure) noexcept;

    /// Adds what to wait for in order to hear of ranks: those that have said nothing yet.
    void AddWaits(std::vector<pollfd>* waits) const;

    /// Reads what the ranks have said. Returns the failure of one that has failed, if there is one.
    Outcome Hear();
    /// The same, and a rank whose process has ended is a failure as well.
    Outcome HearOfEnds();
    /// Says why the data of a rank have ended. It waits a second for what the rank has to say.
    Outcome WhyEnded(uint32_t rank);

 private:
    enum class State { kHere, kLeft, kFailed, kEnded };

    struct Notice {
        uint32_t isFailure;
        int32_t code;
        char message[504];
    };

    struct Rank {
        Socket lines[kLines];  // closed for the rank itself
        Notice notice{};       // guarded by mutex_, as the next two
        size_t got = 0;        // bytes of notice
        State state = State::kHere;
    };

    explicit Peers(const Group& group) : ranks_(group.size()), own_(group.rank) {}

    void Send(const Notice& notice) noexcept;
    void HearLocked(Rank* rank);
    Outcome FailureLocked(uint32_t rank, bool ends) const;
    Outcome HearAll(bool ends);

    std::vector<Rank> ranks_;
    const uint32_t own_;
    std::atomic<bool> told_{false};
    mutable std::mutex mutex_;  // no lock is taken after it
};

}  // namespace advstep::hccl
