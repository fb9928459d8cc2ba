// SPDX-License-Identifier: Apache-2.0
// Admits connections, and hands them to who waits for them.

#include "src/hccl/lobby.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace advstep::hccl {
namespace {

constexpr uint64_t kCardMagic = 0x32304c4343485641u;
constexpr size_t kMostVisitors = 4096;  // the oldest has to go for one more
constexpr int kLookMilliseconds = 5;    // between two looks of a thread that waits

}  // namespace

struct Lobby::Visitor {
    // The first bytes of a connection.
    struct Card {
        uint64_t magic;
        Visit visit;
    };

    Socket socket;
    Card card{};
    size_t got = 0;  // bytes of card

    bool HasCard() const { return got == sizeof card; }

    // Reads more of the card. False: it is a stranger, or has left.
    bool Read() {
        while (!HasCard()) {
            const ssize_t more = recv(socket.descriptor(), reinterpret_cast<char*>(&card) + got,
                                      sizeof card - got, 0);
            if (more <= 0) {
                return more < 0 && (errno == EAGAIN || errno == EINTR);
            }
            got += static_cast<size_t>(more);
        }
        return card.magic == kCardMagic;
    }
};

Lobby::Lobby(Socket listener) : listener_(std::move(listener)) {}

Lobby::~Lobby() = default;

bool Lobby::FindLocked(const Visit& visit, Socket* socket) {
    for (size_t i = 0; i < visitors_.size();) {
        Visitor& visitor = *visitors_[i];
        const bool stays = visitor.Read();
        const bool wanted = stays && visitor.HasCard() && visitor.card.visit == visit;
        if (wanted) {
            *socket = std::move(visitor.socket);
        }
        if (wanted || !stays) {
            visitors_.erase(visitors_.begin() + static_cast<ptrdiff_t>(i));
        } else {
            ++i;
        }
        if (wanted) {
            return true;
        }
    }
    return false;
}

Outcome Lobby::AdmitLocked() {
    Socket socket;
    for (;;) {
        ADVSTEP_HCCL_TRY(Accept(listener_, &socket));
        if (!socket.IsOpen()) {
            return {};
        }
        auto visitor = std::make_unique<Visitor>();
        visitor->socket = std::exchange(socket, Socket());
        if (visitors_.size() >= kMostVisitors) {
            visitors_.erase(visitors_.begin());
        }
        visitors_.push_back(std::move(visitor));
    }
}

Outcome Lobby::Take(const Visit& visit, const Deadline& deadline, Socket* socket) {
    for (;;) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            ADVSTEP_HCCL_TRY(AdmitLocked());
            if (FindLocked(visit, socket)) {
                return {};
            }
        }
        if (deadline.Passed()) {
            return Error(HCCL_E_TIMEOUT, "rank ", visit.rank,
                         " has not connected within HCCL_CONNECT_TIMEOUT");
        }
        pollfd wait{listener_.descriptor(), POLLIN, 0};
        (void)poll(&wait, 1, deadline.Milliseconds(kLookMilliseconds));
    }
}

Outcome Lobby::Enter(const Endpoint& endpoint, const std::string& what, const Visit& visit,
                     const Deadline& deadline, Socket* socket) {
    ADVSTEP_HCCL_TRY(Connect(endpoint, what, deadline, false, socket));
    const Visitor::Card card{kCardMagic, visit};
    return SendAll(*socket, &card, sizeof card, what, deadline);
}

}  // namespace advstep::hccl
