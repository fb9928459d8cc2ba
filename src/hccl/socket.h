// SPDX-License-Identifier: Apache-2.0
// A socket of this process, which no child of a fork keeps.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/hccl/deadline.h"
#include "src/hccl/outcome.h"

namespace advstep::hccl {

/// Where a rank or a root listens.
struct Endpoint {
    std::string address;  // numeric, of IPv4 or IPv6
    uint16_t port = 0;

    std::string ToText() const;
};

/// Owns a descriptor that does not block. A child of a fork closes the descriptors of all sockets,
/// so that a peer notices when this process ends; the objects of the parent do nothing there.
class Socket {
 public:
    Socket() = default;
    explicit Socket(int descriptor);
    Socket(Socket&& other) noexcept;
    Socket& operator=(Socket&& other) noexcept;
    ~Socket() { Close(); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    int descriptor() const { return descriptor_; }
    bool IsOpen() const { return descriptor_ >= 0; }
    void Close() noexcept;
    /// Lets the peer read what has been sent, and then the end.
    void Shutdown() noexcept;

 private:
    int descriptor_ = -1;
    uint32_t generation_ =
        0;  // how many forks the process came from; another one does not close it
};

/// Listens at an address, at any free port if the port is 0. Afterwards *endpoint has the port.
/// HCCL_E_TCP_CONNECT: it cannot.
Outcome Listen(Endpoint* endpoint, Socket* listener);

/// Accepts a connection, if there is one: else *accepted stays closed.
Outcome Accept(const Socket& listener, Socket* accepted);

/// Connects. HCCL_E_TCP_CONNECT: `what` cannot be reached; `retry`: only at the deadline.
Outcome Connect(const Endpoint& endpoint, const std::string& what, const Deadline& deadline,
                bool retry, Socket* socket);

/// Sends or receives all bytes. HCCL_E_TCP_TRANSFER: the connection has ended. HCCL_E_TIMEOUT.
/// The message says what `what` has not done.
Outcome SendAll(const Socket& socket, const void* data, size_t bytes, const std::string& what,
                const Deadline& deadline);
Outcome ReceiveAll(const Socket& socket, void* data, size_t bytes, const std::string& what,
                   const Deadline& deadline);

/// Returns the own or the other address of a connection.
std::string OwnAddress(const Socket& socket);

/// Returns the text of errno.
std::string ErrorText(int error);

}  // namespace advstep::hccl
