// SPDX-License-Identifier: Apache-2.0
// The thread that accepts connections, and those that serve them.

#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "src/adxl/service.h"

namespace advstep::transfer {

constexpr size_t kMostConnections = 64;  // of one engine at a time

/// Accepts connections of this user's engines and serves each in a thread of its own, so that a
/// client that stops delays no other one. A client has one connection: a new one begins when the
/// earlier one writes and reads nothing any more.
class Listener {
 public:
    Listener(RegisteredMemory& memory, Inbox& inbox) : memory_(memory), inbox_(inbox) {}
    ~Listener() { Stop(); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// Takes the port of the name and listens. It is called once.
    Outcome Start(const EngineName& name, const ShareKey& secret);
    /// Ends all connections and waits for the threads.
    void Stop() noexcept;

 private:
    struct Connection {
        Channel channel;
        std::thread thread;
        ClientId client;  // once it has proved itself
        bool ended = false;
    };

    void Accept();
    // Returns whether the client may be one of ours.
    bool Take(Descriptor socket);
    void Serve(Connection& connection) noexcept;
    // Ends the client's earlier connections. False: one of them does not end in time.
    bool EndEarlier(Connection& connection, const ClientId& client, Deadline until);
    void DropEnded();

    RegisteredMemory& memory_;
    Inbox& inbox_;
    ShareKey secret_;
    Descriptor port_;    // bound and never listened to: other programs see that it is taken
    Descriptor socket_;  // accepts
    Descriptor wake_;    // an eventfd that ends the accepting thread
    std::thread acceptor_;
    // Guards the list, and the client and the end of each connection. No lock is taken under it.
    std::mutex mutex_;
    std::condition_variable ended_;
    std::list<Connection> connections_;
};

}  // namespace advstep::transfer
