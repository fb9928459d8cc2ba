// SPDX-License-Identifier: Apache-2.0
// Sockets of TCP, and what a fork does with them.

#include "src/hccl/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

namespace advstep::hccl {
namespace {

// All descriptors of sockets of the process. The mutex guards the list; no lock is taken after it.
// The object is never destroyed. A fork happens under the mutex, so that the list is whole in the
// child, which closes the descriptors and goes on with an empty list.
struct OpenDescriptors {
    std::mutex mutex;
    std::vector<int> all;
    uint32_t generation = 0;
};

OpenDescriptors* theDescriptors = nullptr;

void LockDescriptors() { theDescriptors->mutex.lock(); }
void UnlockDescriptors() { theDescriptors->mutex.unlock(); }

void LeaveDescriptorsToParent() {
    for (const int descriptor : theDescriptors->all) {
        (void)close(descriptor);
    }
    theDescriptors->all.clear();
    ++theDescriptors->generation;
    theDescriptors->mutex.unlock();
}

// Runs while the library is loaded: neither a program nor a child can continue without.
bool MakeDescriptors() {
    theDescriptors = new (std::nothrow) OpenDescriptors;
    if (theDescriptors == nullptr ||
        pthread_atfork(&LockDescriptors, &UnlockDescriptors, &LeaveDescriptorsToParent) != 0) {
        std::abort();
    }
    return true;
}
[[maybe_unused]] const bool descriptorsMade = MakeDescriptors();

// An address of either family.
struct Address {
    sockaddr_storage storage{};
    socklen_t length = 0;

    int family() const { return storage.ss_family; }
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Outcome MakeAddress(const Endpoint& endpoint, Address* address) {
    auto* const four = reinterpret_cast<sockaddr_in*>(&address->storage);
    if (inet_pton(AF_INET, endpoint.address.c_str(), &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(endpoint.port);
        address->length = sizeof *four;
        return {};
    }
    auto* const six = reinterpret_cast<sockaddr_in6*>(&address->storage);
    if (inet_pton(AF_INET6, endpoint.address.c_str(), &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(endpoint.port);
        address->length = sizeof *six;
        return {};
    }
    return Error(HCCL_E_PARA, "\"", endpoint.address,
                 "\" is no address; expected one of IPv4 or IPv6");
}

Endpoint EndpointOf(const Address& address) {
    char text[INET6_ADDRSTRLEN] = "";
    if (address.family() == AF_INET) {
        const auto* const four = reinterpret_cast<const sockaddr_in*>(&address.storage);
        (void)inet_ntop(AF_INET, &four->sin_addr, text, sizeof text);
        return {text, ntohs(four->sin_port)};
    }
    const auto* const six = reinterpret_cast<const sockaddr_in6*>(&address.storage);
    (void)inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof text);
    return {text, ntohs(six->sin6_port)};
}

Endpoint OwnEndpoint(int descriptor) {
    Address address;
    address.length = sizeof address.storage;
    return getsockname(descriptor, address.get(), &address.length) == 0 ? EndpointOf(address)
                                                                        : Endpoint{};
}

void SendAtOnce(int descriptor) {
    const int one = 1;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

// Waits for an event. False: the deadline has passed.
bool Await(int descriptor, short events, const Deadline& deadline) {
    while (!deadline.Passed()) {
        pollfd wait{descriptor, events, 0};
        if (poll(&wait, 1, deadline.Milliseconds()) > 0) {
            return true;
        }
    }
    return false;
}

// One attempt: 0, or what errno says.
int ConnectOnce(const Address& address, const Deadline& deadline, Socket* socket) {
    const int descriptor =
        ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) {
        return errno;
    }
    Socket made(descriptor);
    int error = connect(descriptor, address.get(), address.length) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
        if (!Await(descriptor, POLLOUT, deadline)) {
            return ETIMEDOUT;
        }
        socklen_t size = sizeof error;
        (void)getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) {
        SendAtOnce(descriptor);
        *socket = std::move(made);
    }
    return error;
}

bool MayPass(int error) {
    return error == ECONNREFUSED || error == ECONNRESET || error == EAGAIN ||
           error == EHOSTUNREACH || error == ENETUNREACH;
}

bool IsTemporary(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

std::string Endpoint::ToText() const {
    return address.find(':') == std::string::npos ? Text(address, ":", port)
                                                  : Text("[", address, "]:", port);
}

Socket::Socket(int descriptor) : descriptor_(descriptor) {
    const std::lock_guard<std::mutex> lock(theDescriptors->mutex);
    generation_ = theDescriptors->generation;
    try {
        theDescriptors->all.push_back(descriptor);
    } catch (...) {
        (void)close(descriptor);
        throw;
    }
}

Socket::Socket(Socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), generation_(other.generation_) {}

Socket& Socket::operator=(Socket&& other) noexcept {
    if (this != &other) {
        Close();
        descriptor_ = std::exchange(other.descriptor_, -1);
        generation_ = other.generation_;
    }
    return *this;
}

void Socket::Close() noexcept {
    if (descriptor_ < 0) {
        return;
    }
    const std::lock_guard<std::mutex> lock(theDescriptors->mutex);
    auto& all = theDescriptors->all;
    if (generation_ == theDescriptors->generation) {
        for (int& each : all) {
            if (each == descriptor_) {
                each = all.back();
                all.pop_back();
                break;
            }
        }
        (void)close(descriptor_);
    }
    descriptor_ = -1;
}

void Socket::Shutdown() noexcept {
    const std::lock_guard<std::mutex> lock(theDescriptors->mutex);
    if (descriptor_ >= 0 && generation_ == theDescriptors->generation) {
        (void)shutdown(descriptor_, SHUT_WR);
    }
}

Outcome Listen(Endpoint* endpoint, Socket* listener) {
    Address address;
    ADVSTEP_HCCL_TRY(MakeAddress(*endpoint, &address));
    const int descriptor =
        ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) {
        return Error(HCCL_E_SYSCALL, "socket failed: ", ErrorText(errno));
    }
    Socket made(descriptor);
    const int one = 1;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(descriptor, address.get(), address.length) != 0 ||
        listen(descriptor, SOMAXCONN) != 0) {
        return Error(HCCL_E_TCP_CONNECT, "cannot listen at ", endpoint->ToText(), ": ",
                     ErrorText(errno), "; expected a free port at an address of this host");
    }
    endpoint->port = OwnEndpoint(descriptor).port;
    *listener = std::move(made);
    return {};
}

Outcome Accept(const Socket& listener, Socket* accepted) {
    const int descriptor =
        accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0) {
        SendAtOnce(descriptor);
        *accepted = Socket(descriptor);
        return {};
    }
    // An error of the connection itself is the peer's; it is as if it had not come.
    const int error = errno;
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS
               ? Error(HCCL_E_SYSCALL, "accept failed: ", ErrorText(error))
               : Outcome{};
}

Outcome Connect(const Endpoint& endpoint, const std::string& what, const Deadline& deadline,
                bool retry, Socket* socket) {
    Address address;
    ADVSTEP_HCCL_TRY(MakeAddress(endpoint, &address));
    for (;;) {
        const int error = ConnectOnce(address, deadline, socket);
        if (error == 0) {
            return {};
        }
        if (!retry || !MayPass(error) || deadline.Passed()) {
            return Error(HCCL_E_TCP_CONNECT, "cannot reach ", what, " at ", endpoint.ToText(), ": ",
                         ErrorText(error));
        }
        (void)poll(nullptr, 0, deadline.Milliseconds(20));  // a pause before the next attempt
    }
}

Outcome SendAll(const Socket& socket, const void* data, size_t bytes, const std::string& what,
                const Deadline& deadline) {
    const auto* next = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t sent = send(socket.descriptor(), next, bytes, MSG_NOSIGNAL);
        if (sent > 0) {
            next += sent;
            bytes -= static_cast<size_t>(sent);
        } else if (!IsTemporary(errno)) {
            return Error(HCCL_E_TCP_TRANSFER, what,
                         " has ended the connection: ", ErrorText(errno));
        } else if (!Await(socket.descriptor(), POLLOUT, deadline)) {
            return Error(HCCL_E_TIMEOUT, what, " does not read");
        }
    }
    return {};
}

Outcome ReceiveAll(const Socket& socket, void* data, size_t bytes, const std::string& what,
                   const Deadline& deadline) {
    auto* next = static_cast<char*>(data);
    while (bytes > 0) {
        const ssize_t got = recv(socket.descriptor(), next, bytes, 0);
        if (got > 0) {
            next += got;
            bytes -= static_cast<size_t>(got);
        } else if (got == 0) {
            return Error(HCCL_E_TCP_TRANSFER, what, " has ended the connection");
        } else if (!IsTemporary(errno)) {
            return Error(HCCL_E_TCP_TRANSFER, what,
                         " has ended the connection: ", ErrorText(errno));
        } else if (!Await(socket.descriptor(), POLLIN, deadline)) {
            return Error(HCCL_E_TIMEOUT, what, " does not answer");
        }
    }
    return {};
}

std::string OwnAddress(const Socket& socket) { return OwnEndpoint(socket.descriptor()).address; }

std::string ErrorText(int error) { return std::generic_category().message(error); }

}  // namespace advstep::hccl
