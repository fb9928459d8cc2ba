// SPDX-License-Identifier: Apache-2.0
// Connects ranks with each other, and listens to what they say of themselves.

#include "src/hccl/peers.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace advstep::hccl {
namespace {

constexpr uint32_t kLastWordsSeconds = 1;

}  // namespace

Outcome Peers::Meet(const Group& group, Lobby* lobby, const Deadline& deadline,
                    std::unique_ptr<Peers>* peers) {
    std::unique_ptr<Peers> made(new Peers(group));
    for (uint32_t rank = 0; rank < group.rank; ++rank) {
        for (uint32_t line = 0; line < kLines; ++line) {
            const Visit visit{group.key, group.rank, static_cast<Line>(line)};
            ADVSTEP_HCCL_TRY(Lobby::Enter(group.members[rank], Text("rank ", rank), visit, deadline,
                                          &made->ranks_[rank].lines[line]));
        }
    }
    for (uint32_t rank = group.rank + 1; rank < group.size(); ++rank) {
        for (uint32_t line = 0; line < kLines; ++line) {
            const Visit visit{group.key, rank, static_cast<Line>(line)};
            ADVSTEP_HCCL_TRY(lobby->Take(visit, deadline, &made->ranks_[rank].lines[line]));
        }
    }
    *peers = std::move(made);
    return {};
}

void Peers::SayGoodbye() noexcept {
    Send({});
    for (Rank& rank : ranks_) {
        for (Socket& line : rank.lines) {
            line.Shutdown();
        }
    }
}

void Peers::TellFailure(const Outcome& failure) noexcept {
    Notice notice{};
    notice.isFailure = 1;
    notice.code = failure.code;
    std::memcpy(notice.message, failure.message.data(),
                std::min(failure.message.size(), sizeof notice.message - 1));
    Send(notice);
}

// A line of control carries this and nothing else, so it is not full.
void Peers::Send(const Notice& notice) noexcept {
    if (told_.exchange(true)) {
        return;
    }
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        if (rank != own_) {
            (void)send(Data(Line::kControl, rank).descriptor(), &notice, sizeof notice,
                       MSG_NOSIGNAL | MSG_DONTWAIT);
        }
    }
}

void Peers::AddWaits(std::vector<pollfd>* waits) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        if (rank != own_ && ranks_[rank].state == State::kHere) {
            waits->push_back({Data(Line::kControl, rank).descriptor(), POLLIN, 0});
        }
    }
}

void Peers::HearLocked(Rank* rank) {
    while (rank->state == State::kHere) {
        const ssize_t got =
            recv(rank->lines[0].descriptor(), reinterpret_cast<char*>(&rank->notice) + rank->got,
                 sizeof rank->notice - rank->got, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (got <= 0) {
            rank->state = State::kEnded;
            return;
        }
        rank->got += static_cast<size_t>(got);
        if (rank->got == sizeof rank->notice) {
            rank->notice.message[sizeof rank->notice.message - 1] = '\0';
            rank->state = rank->notice.isFailure != 0 ? State::kFailed : State::kLeft;
        }
    }
}

Outcome Peers::FailureLocked(uint32_t rank, bool ends) const {
    const Rank& one = ranks_[rank];
    if (one.state == State::kFailed) {
        return Error(HCCL_E_REMOTE, "rank ", rank, " has failed with ",
                     NameOf(static_cast<HcclResult>(one.notice.code)), ": ", one.notice.message);
    }
    return one.state == State::kEnded && ends
               ? Error(HCCL_E_REMOTE, "the process of rank ", rank, " has ended")
               : Outcome{};
}

Outcome Peers::HearAll(bool ends) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        if (rank != own_) {
            HearLocked(&ranks_[rank]);
        }
    }
    for (const bool also : {false, true}) {  // a rank that says more goes first
        for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
            ADVSTEP_HCCL_TRY(FailureLocked(rank, ends && also));
        }
    }
    return {};
}

Outcome Peers::Hear() { return HearAll(false); }

Outcome Peers::HearOfEnds() { return HearAll(true); }

Outcome Peers::WhyEnded(uint32_t rank) {
    const Deadline deadline(kLastWordsSeconds);
    for (;;) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            HearLocked(&ranks_[rank]);
            ADVSTEP_HCCL_TRY(FailureLocked(rank, true));
            if (ranks_[rank].state == State::kLeft) {
                return Error(HCCL_E_REMOTE, "rank ", rank, " has destroyed its communicator");
            }
        }
        if (deadline.Passed()) {
            return Error(HCCL_E_TCP_TRANSFER, "the connection to rank ", rank, " has ended");
        }
        pollfd wait{Data(Line::kControl, rank).descriptor(), POLLIN, 0};
        (void)poll(&wait, 1, deadline.Milliseconds());
    }
}

}  // namespace advstep::hccl
