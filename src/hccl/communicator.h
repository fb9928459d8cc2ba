// SPDX-License-Identifier: Apache-2.0
// A rank's side of a communicator.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/hccl/group.h"
#include "src/hccl/lobby.h"
#include "src/hccl/outcome.h"
#include "src/hccl/peers.h"
#include "src/hccl/turns.h"

namespace advstep::hccl {

/// It is shared by the table of handles, by queued operators and by models that captured some. The
/// last one to go closes the connections.
///
/// A communicator that has failed is of no more use: the ranks no longer agree about what comes
/// next on a connection. All later operators fail as the first one did, also on the other ranks.
class Communicator {
 public:
    /// How the communicator came about.
    struct Origin {
        Group group;
        std::shared_ptr<Lobby> lobby;
        int32_t device = 0;
        uint32_t executeSeconds = 0;  // 0: operators have no limit
        uint32_t connectSeconds = 0;
    };

    /// Connects to all ranks.
    static Outcome Make(Origin origin, std::shared_ptr<Communicator>* communicator);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    const Group& group() const { return origin_.group; }
    const Origin& origin() const { return origin_; }
    uint32_t rank() const { return origin_.group.rank; }
    uint32_t size() const { return origin_.group.size(); }
    Peers& peers() { return *peers_; }
    Turns& turns() { return turns_; }

    /// Returns the first failure, or success.
    Outcome Failure() const;
    /// Reads what other ranks have said, too.
    Outcome AsyncError();
    /// Keeps the first failure, tells it to the other ranks, and ends what runs.
    void Fail(const Outcome& failure) noexcept;
    /// Ends what runs and what is queued, and tells the other ranks that this one leaves.
    void Destroy() noexcept;
    /// Ends what runs and what is queued, if there is something: the work of the device is aborted.
    void AbortWork() noexcept;

    /// A descriptor that becomes readable with the first failure.
    int FailureDescriptor() const { return failed_.descriptor(); }

    /// The numbers of the next messages. Only who has entered the channel uses its number.
    uint64_t collectives = 0;
    std::vector<uint64_t> sent;      // to each rank
    std::vector<uint64_t> received;  // from each rank

 private:
    explicit Communicator(Origin origin);
    bool Keep(const Outcome& failure) noexcept;

    const Origin origin_;
    std::unique_ptr<Peers> peers_;  // never changes after Make
    Turns turns_;
    Socket failed_;
    mutable std::mutex mutex_;  // guards failure_; no lock is taken after it
    Outcome failure_;
};

}  // namespace advstep::hccl
