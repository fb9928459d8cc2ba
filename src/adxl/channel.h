// SPDX-License-Identifier: Apache-2.0
// A connection of two engines: bytes with a deadline, and the proof of who is at its other end.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "src/adxl/engine_name.h"
#include "src/adxl/outcome.h"
#include "src/runtime/memory/fork_records.h"
#include "src/runtime/memory/share_key.h"

namespace advstep::transfer {

enum class Io {
    kDone,
    kTimeout,
    kEnded,  // the other end, or Shutdown
};

/// A connected socket. One thread at a time sends and receives; any thread may shut it down.
class Channel {
 public:
    Channel() = default;
    explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

    bool Usable() const { return socket_.Usable(); }
    Io Send(const void* bytes, size_t count, Deadline until) const;
    Io Receive(void* bytes, size_t count, Deadline until) const;
    /// Returns whether the other end has closed an idle connection.
    bool HasEnded() const;
    /// Lets this and all later sends and receives end, also those of bytes that have come.
    void Shutdown() const noexcept;
    int Number() const { return socket_.Get(); }

 private:
    Io Await(short events, Deadline until) const;

    Descriptor socket_;
    std::unique_ptr<std::atomic<bool>> isShut_ = std::make_unique<std::atomic<bool>>(false);
};

/// An engine that connects, for the one that it connects to: a random number.
struct ClientId {
    uint64_t words[2] = {};
    bool operator==(const ClientId& other) const {
        return words[0] == other.words[0] && words[1] == other.words[1];
    }
};

/// Opens a socket on which the engine of that name listens. Only processes that have the secret
/// know its name. FAILED: another one has it.
Outcome Listen(const EngineName& name, const ShareKey& secret, Descriptor* socket);

/// Connects to the engine of that name. Either side proves to the other one that it has the secret,
/// after the system has said that both are of one user.
Outcome ConnectTo(const EngineName& name, const ShareKey& secret, const ClientId& self,
                  Deadline until, Channel* channel);

/// The server's side of ConnectTo. It calls `isReady` with the client's number before it lets the
/// client begin. False: the client is not to be served, as isReady says or because it has no
/// secret.
bool Admit(const Channel& channel, const ShareKey& secret, Deadline until,
           const std::function<bool(const ClientId&)>& isReady);
/// Turns the client away with a code.
void TurnAway(const Channel& channel, adxl::Status status);

/// Returns whether the process at the other end is of this process's user beyond doubt.
bool IsOfThisUser(int socket);

}  // namespace advstep::transfer
