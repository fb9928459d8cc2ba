// SPDX-License-Identifier: Apache-2.0
// Moves bytes over a socket until a deadline, and lets both ends prove who they are.

#include "src/adxl/channel.h"

#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <system_error>

#include "src/base/high_descriptor.h"
#include "src/runtime/memory/share_peer.h"

namespace advstep::transfer {
namespace {

constexpr uint32_t kMagic = 0x41445831;  // "ADX1"; another protocol gets another number
constexpr int kQueuedConnections = 128;
constexpr int kSocketBytes = 1 << 20;  // as far as the host allows
constexpr std::chrono::milliseconds kRetry{5};

/// The server's first message. A code other than SUCCESS turns the client away.
struct Greeting {
    uint32_t magic;
    adxl::Status status;
    uint64_t nonce[2];
};

/// The client's answer to the greeting.
struct Hello {
    uint32_t magic;
    uint32_t reserved;
    ClientId client;
    uint64_t nonce[2];
    uint64_t proof;
};

/// The server's answer to that.
struct Welcome {
    uint32_t magic;
    uint32_t reserved;
    uint64_t proof;
};

uint64_t ProofBy(ShareProof side, const ShareKey& secret, const uint64_t* nonce,
                 const Hello& hello) {
    return ProofOf(secret, side,
                   {nonce[0], nonce[1], hello.nonce[0], hello.nonce[1], hello.client.words[0],
                    hello.client.words[1]});
}

uint64_t ProofOfClient(const ShareKey& secret, const uint64_t* nonce, const Hello& hello) {
    return ProofBy(ShareProof::kImporter, secret, nonce, hello);
}

uint64_t ProofOfServer(const ShareKey& secret, const uint64_t* nonce, const Hello& hello) {
    return ProofBy(ShareProof::kExporter, secret, nonce, hello);
}

/// The address of an engine's socket in the abstract namespace.
struct Address {
    Address(const EngineName& name, const ShareKey& secret) {
        socket.sun_family = AF_UNIX;
        const uint64_t code =
            ProofOf(secret, ShareProof::kName, {name.words[0], name.words[1], name.words[2]});
        const int length = std::snprintf(socket.sun_path + 1, sizeof(socket.sun_path) - 1,
                                         "advance_step-transfer.%016" PRIx64, code);
        bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                       static_cast<size_t>(length));
    }
    const sockaddr* Get() const { return reinterpret_cast<const sockaddr*>(&socket); }

    sockaddr_un socket{};
    socklen_t bytes = 0;
};

Outcome NoSocket() {
    return Fail(adxl::RESOURCE_EXHAUSTED,
                "the host has no descriptor ({}); expected fewer in the process",
                std::generic_category().message(errno));
}

Outcome NoEngine(const EngineName& name) {
    return Fail(adxl::NOT_CONNECTED,
                "no engine of this user has the name {}; expected one that is initialised with it "
                "on this host",
                name.text);
}

Outcome NoAnswer(const EngineName& name) {
    return Fail(adxl::TIMEOUT, "engine {} did not answer in time", name.text);
}

Outcome WrongPeer(const EngineName& name, const char* what) {
    return Fail(adxl::FAILED,
                "the process that answers for engine {} {}; expected an engine of this user",
                name.text, what);
}

Descriptor OpenSocket() {
    Descriptor socket(
        OpenHigh([] { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }));
    if (socket.Usable()) {
        (void)setsockopt(socket.Get(), SOL_SOCKET, SO_SNDBUF, &kSocketBytes, sizeof(kSocketBytes));
    }
    return socket;
}

// A queue of connections that is full says EAGAIN at once, so it is asked again.
Outcome ConnectSocket(const EngineName& name, const ShareKey& secret, Deadline until, int socket) {
    const Address address(name, secret);
    while (connect(socket, address.Get(), address.bytes) != 0) {
        if (errno == ECONNREFUSED) {
            return NoEngine(name);
        }
        if (errno != EAGAIN && errno != EINTR) {
            return Fail(adxl::FAILED, "the host does not connect to engine {} ({})", name.text,
                        std::generic_category().message(errno));
        }
        if (Clock::now() >= until) {
            return NoAnswer(name);
        }
        if (errno == EAGAIN) {
            (void)poll(nullptr, 0, static_cast<int>(kRetry.count()));
        }
    }
    return {};
}

Outcome Refused(const EngineName& name, Io io) {
    return io == Io::kTimeout
               ? NoAnswer(name)
               : Fail(adxl::NOT_CONNECTED, "engine {} ended the connection", name.text);
}

Outcome ProveEachOther(const Channel& channel, const EngineName& name, const ShareKey& secret,
                       const ClientId& self, Deadline until) {
    Greeting greeting{};
    if (const Io io = channel.Receive(&greeting, sizeof(greeting), until); io != Io::kDone) {
        return Refused(name, io);
    }
    if (greeting.magic != kMagic) {
        return WrongPeer(name, "speaks another protocol");
    }
    if (greeting.status != adxl::SUCCESS) {
        return Fail(greeting.status, "engine {} has as many connections as it takes", name.text);
    }
    Hello hello{kMagic, 0, self, {}, 0};
    if (!DrawRandom(hello.nonce, 2)) {
        return Fail(adxl::FAILED, "the host has no random bits for engine {}", name.text);
    }
    hello.proof = ProofOfClient(secret, greeting.nonce, hello);
    Welcome welcome{};
    Io io = channel.Send(&hello, sizeof(hello), until);
    if (io == Io::kDone) {
        io = channel.Receive(&welcome, sizeof(welcome), until);
    }
    if (io != Io::kDone) {
        return Refused(name, io);
    }
    if (welcome.magic != kMagic || welcome.proof != ProofOfServer(secret, greeting.nonce, hello)) {
        return WrongPeer(name, "does not prove that it has this user's secret");
    }
    return {};
}

}  // namespace

Io Channel::Await(short events, Deadline until) const {
    for (;;) {
        int rest = -1;
        if (until != kNoDeadline) {
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
            if (left < 0) {
                return Io::kTimeout;
            }
            rest = static_cast<int>(std::min<int64_t>(left + 1, INT_MAX));
        }
        pollfd polled{socket_.Get(), events, 0};
        const int ready = poll(&polled, 1, rest);
        if (ready > 0) {
            return Io::kDone;
        }
        if (ready == 0) {
            return Io::kTimeout;
        }
        if (errno != EINTR) {
            return Io::kEnded;
        }
    }
}

Io Channel::Send(const void* bytes, size_t count, Deadline until) const {
    const auto* at = static_cast<const char*>(bytes);
    while (count > 0) {
        if (isShut_->load()) {
            return Io::kEnded;
        }
        const ssize_t sent = send(socket_.Get(), at, count, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            at += sent;
            count -= static_cast<size_t>(sent);
        } else if (sent < 0 && errno == EAGAIN) {
            if (const Io io = Await(POLLOUT, until); io != Io::kDone) {
                return io;
            }
        } else if (sent == 0 || errno != EINTR) {
            return Io::kEnded;
        }
    }
    return Io::kDone;
}

Io Channel::Receive(void* bytes, size_t count, Deadline until) const {
    auto* at = static_cast<char*>(bytes);
    while (count > 0) {
        if (isShut_->load()) {
            return Io::kEnded;
        }
        const ssize_t got = recv(socket_.Get(), at, count, MSG_DONTWAIT);
        if (got > 0) {
            at += got;
            count -= static_cast<size_t>(got);
        } else if (got < 0 && errno == EAGAIN) {
            if (const Io io = Await(POLLIN, until); io != Io::kDone) {
                return io;
            }
        } else if (got == 0 || errno != EINTR) {
            return Io::kEnded;
        }
    }
    return Io::kDone;
}

bool Channel::HasEnded() const {
    pollfd polled{socket_.Get(), POLLIN | POLLRDHUP, 0};
    return poll(&polled, 1, 0) != 0;
}

// A shut socket still gives the bytes that have come, so there is a mark as well.
void Channel::Shutdown() const noexcept {
    isShut_->store(true);
    (void)shutdown(socket_.Get(), SHUT_RDWR);
}

bool IsOfThisUser(int socket) {
    SharePeer peer;
    return SharePeer::Of(socket, &peer) && peer.IsSameUserWithoutDoubt();
}

Outcome Listen(const EngineName& name, const ShareKey& secret, Descriptor* socket) {
    Descriptor opened = OpenSocket();
    if (!opened.Usable()) {
        return NoSocket();
    }
    const Address address(name, secret);
    if (bind(opened.Get(), address.Get(), address.bytes) != 0 ||
        listen(opened.Get(), kQueuedConnections) != 0) {
        return Fail(adxl::FAILED, "localEngine {} cannot be listened to ({})", name.text,
                    std::generic_category().message(errno));
    }
    *socket = std::move(opened);
    return {};
}

Outcome ConnectTo(const EngineName& name, const ShareKey& secret, const ClientId& self,
                  Deadline until, Channel* channel) {
    Descriptor socket = OpenSocket();
    if (!socket.Usable()) {
        return NoSocket();
    }
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ConnectSocket(name, secret, until, socket.Get()));
    if (!IsOfThisUser(socket.Get())) {
        return WrongPeer(name, "is of another user");
    }
    Channel connected(std::move(socket));
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ProveEachOther(connected, name, secret, self, until));
    *channel = std::move(connected);
    return {};
}

bool Admit(const Channel& channel, const ShareKey& secret, Deadline until,
           const std::function<bool(const ClientId&)>& isReady) {
    Greeting greeting{kMagic, adxl::SUCCESS, {}};
    Hello hello{};
    if (!DrawRandom(greeting.nonce, 2) ||
        channel.Send(&greeting, sizeof(greeting), until) != Io::kDone ||
        channel.Receive(&hello, sizeof(hello), until) != Io::kDone || hello.magic != kMagic ||
        hello.proof != ProofOfClient(secret, greeting.nonce, hello) || !isReady(hello.client)) {
        return false;
    }
    const Welcome welcome{kMagic, 0, ProofOfServer(secret, greeting.nonce, hello)};
    return channel.Send(&welcome, sizeof(welcome), until) == Io::kDone;
}

void TurnAway(const Channel& channel, adxl::Status status) {
    const Greeting greeting{kMagic, status, {}};
    (void)channel.Send(&greeting, sizeof(greeting), Clock::now());
}

}  // namespace advstep::transfer
