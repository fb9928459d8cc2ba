// SPDX-License-Identifier: Apache-2.0
// The socket at which a rank listens, and the connections that have come before they are wanted.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "src/hccl/group.h"
#include "src/hccl/socket.h"

namespace advstep::hccl {

/// What connections between two ranks are for: each pair has one of each.
enum class Line : uint32_t { kControl, kCollective, kPointToPoint };
constexpr uint32_t kLines = 3;

/// Which connection it is.
struct Visit {
    GroupKey key{};
    uint32_t rank = 0;  // of the one that connects
    Line line{};

    bool operator==(const Visit& other) const {
        return key == other.key && rank == other.rank && line == other.line;
    }
};

/// A communicator and its sub-communicators share a lobby. Several of them may be made at a time,
/// so a connection may come before the one that wants it asks.
class Lobby {
 public:
    explicit Lobby(Socket listener);
    ~Lobby();
    Lobby(const Lobby&) = delete;
    Lobby& operator=(const Lobby&) = delete;

    /// Waits for a connection. HCCL_E_TIMEOUT: it has not come; the message names the rank.
    Outcome Take(const Visit& visit, const Deadline& deadline, Socket* socket);

    /// Connects to the lobby of another rank.
    static Outcome Enter(const Endpoint& endpoint, const std::string& what, const Visit& visit,
                         const Deadline& deadline, Socket* socket);

 private:
    struct Visitor;

    bool FindLocked(const Visit& visit, Socket* socket);
    Outcome AdmitLocked();

    const Socket listener_;
    std::mutex mutex_;  // guards visitors_; the mutex of descriptors is taken after it
    std::vector<std::unique_ptr<Visitor>> visitors_;
};

}  // namespace advstep::hccl
