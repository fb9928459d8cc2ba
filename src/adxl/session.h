// SPDX-License-Identifier: Apache-2.0
// The client's side of a connection.

#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "src/adxl/wire.h"

namespace advstep::transfer {

/// A transfer as an engine does it. The ranges have the same lengths on both sides.
struct Transfer {
    RequestKind kind = RequestKind::kWrite;  // or kRead
    std::vector<Range> local;
    std::vector<Range> remote;
    uint64_t bytes = 0;  // of all ranges
};

/// A connection to one engine, which one request at a time uses. The connection is the other engine
/// for ever: once that process has ended, no later one can take its place, whatever its pid or
/// port.
class Session {
 public:
    explicit Session(EngineName name, Channel channel)
        : name_(std::move(name)), channel_(std::move(channel)) {}

    /// Any outcome that leaves the two ends of different opinions ends the connection.
    Outcome Run(const Transfer& transfer, RegisteredMemory& memory, Deadline until);
    Outcome Send(const Notify& notify, Deadline until);

    /// Lets the request in progress and all later ones fail.
    void End() noexcept;
    /// Returns whether requests can succeed, as far as this side knows.
    bool IsAlive();

 private:
    class Turn;  // of one request

    Outcome RunInTurn(const Transfer& transfer, RegisteredMemory& memory, Deadline until);
    Outcome SendBytes(const Transfer& transfer, RegisteredMemory& memory, Deadline until);
    Outcome ReceiveBytes(const Transfer& transfer, RegisteredMemory& memory, Deadline until);
    Outcome Await(Deadline until, uint32_t* bytes);
    Outcome Broken(Io io) const;

    const EngineName name_;
    const Channel channel_;
    std::atomic<bool> ended_{false};

    // Guards isBusy_. It is not held during a request.
    std::mutex mutex_;
    std::condition_variable free_;
    bool isBusy_ = false;
};

}  // namespace advstep::transfer
