// SPDX-License-Identifier: Apache-2.0
// Sends and receives messages of several ranks at a time.

#include "src/hccl/exchange.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/hccl/data_type.h"

namespace advstep::hccl {
namespace {

constexpr uint32_t kHeadMagic = 0x4c434348u;
constexpr uint64_t kMostAtOnce = uint64_t{1} << 30;  // what one system call takes
constexpr size_t kBounceBytes = size_t{64} << 10;

template <typename Head>
std::string Describe(const Head& head) {
    const std::string what =
        head.call[0] == '\0' ? Text("a message of ", head.count, " elements of ",
                                    NameOf(static_cast<HcclDataType>(head.type)))
                             : Text(head.call, " number ", head.number, " with count ", head.count,
                                    ", ", NameOf(static_cast<HcclDataType>(head.type)), ", ",
                                    NameOf(static_cast<HcclReduceOp>(head.op)), ", root ",
                                    head.root, ", ", head.bytes, " bytes in part ", head.part);
    return what;
}

// A system call that meets memory whose pages are being moved or are guarded fails with EFAULT,
// where a copy waits or is described. So the bytes take a way round.
int64_t SendBytes(int descriptor, const char* data, uint64_t bytes) {
    const ssize_t sent = send(descriptor, data, std::min(bytes, kMostAtOnce), MSG_NOSIGNAL);
    if (sent >= 0 || errno != EFAULT) {
        return sent;
    }
    const std::unique_ptr<char[]> bounce(new char[kBounceBytes]);
    const size_t part = std::min<uint64_t>(bytes, kBounceBytes);
    std::memcpy(bounce.get(), data, part);
    return send(descriptor, bounce.get(), part, MSG_NOSIGNAL);
}

int64_t ReceiveBytes(int descriptor, char* data, uint64_t bytes) {
    const ssize_t got = recv(descriptor, data, std::min(bytes, kMostAtOnce), 0);
    if (got >= 0 || errno != EFAULT) {
        return got;
    }
    const std::unique_ptr<char[]> bounce(new char[kBounceBytes]);
    const ssize_t part = recv(descriptor, bounce.get(), std::min<uint64_t>(bytes, kBounceBytes), 0);
    if (part > 0) {
        std::memcpy(data, bounce.get(), static_cast<size_t>(part));
    }
    return part;
}

}  // namespace

void Exchange::Begin(const Signature& signature) {
    signature_ = signature;
    if (line_ == Line::kCollective) {
        number_ = communicator_.collectives++;
    }
}

void Exchange::Send(uint32_t rank, const void* data, uint64_t bytes) {
    Add(rank, true, const_cast<char*>(static_cast<const char*>(data)), bytes);
}

void Exchange::Receive(uint32_t rank, void* data, uint64_t bytes) {
    Add(rank, false, static_cast<char*>(data), bytes);
}

Exchange::Flow& Exchange::FlowOf(uint32_t rank, bool sends) {
    for (Flow& flow : flows_) {
        if (flow.rank == rank && flow.sends == sends) {
            return flow;
        }
    }
    flows_.push_back({rank, sends, {}});
    return flows_.back();
}

void Exchange::Add(uint32_t rank, bool sends, char* data, uint64_t bytes) {
    Message message{};
    Head& head = message.head;
    head.magic = kHeadMagic;
    head.type = static_cast<uint32_t>(signature_.type);
    head.op = static_cast<uint32_t>(signature_.op);
    head.root = signature_.root;
    head.part = part_;
    head.count = signature_.count;
    head.bytes = bytes;
    (void)std::strncpy(head.call, signature_.call, sizeof head.call - 1);
    head.number = line_ == Line::kCollective ? number_
                  : sends                    ? communicator_.sent[rank]++
                                             : communicator_.received[rank]++;
    message.data = data;
    FlowOf(rank, sends).messages.push_back(message);
}

int64_t Exchange::MoveHead(const Flow& flow, Message* message) const {
    const int descriptor = communicator_.peers().Data(line_, flow.rank).descriptor();
    const uint64_t left = sizeof(Head) - message->done;
    return flow.sends
               ? send(descriptor, reinterpret_cast<const char*>(&message->head) + message->done,
                      left, MSG_NOSIGNAL | (message->head.bytes > 0 ? MSG_MORE : 0))
               : recv(descriptor, reinterpret_cast<char*>(&message->got) + message->done, left, 0);
}

int64_t Exchange::MoveData(const Flow& flow, Message* message) const {
    const int descriptor = communicator_.peers().Data(line_, flow.rank).descriptor();
    const uint64_t at = message->done - sizeof(Head);
    const uint64_t left = message->head.bytes - at;
    return flow.sends ? SendBytes(descriptor, message->data + at, left)
                      : ReceiveBytes(descriptor, message->data + at, left);
}

Outcome Exchange::Compare(const Flow& flow, const Message& message) const {
    return std::memcmp(&message.head, &message.got, sizeof(Head)) == 0
               ? Outcome{}
               : Error(HCCL_E_PARA, "rank ", flow.rank, " has ", Describe(message.got),
                       "; expected ", Describe(message.head), " as on this rank ", rank());
}

Outcome Exchange::Advance(Flow* flow, bool* moved) {
    while (!flow->messages.empty()) {
        Message& message = flow->messages.front();
        const bool inHead = message.done < sizeof(Head);
        if (!inHead && message.done == sizeof(Head) + message.head.bytes) {
            flow->messages.pop_front();
            continue;
        }
        const int64_t bytes = inHead ? MoveHead(*flow, &message) : MoveData(*flow, &message);
        if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
            return {};
        }
        if (bytes <= 0) {
            return communicator_.peers().WhyEnded(flow->rank);
        }
        *moved = true;
        message.done += static_cast<uint64_t>(bytes);
        if (inHead && message.done == sizeof(Head) && !flow->sends) {
            ADVSTEP_HCCL_TRY(Compare(*flow, message));
        }
    }
    return {};
}

// Waits until something may have changed.
Outcome Exchange::Await() {
    waits_.clear();
    for (const Flow& flow : flows_) {
        if (!flow.messages.empty()) {
            waits_.push_back({communicator_.peers().Data(line_, flow.rank).descriptor(),
                              static_cast<short>(flow.sends ? POLLOUT : POLLIN), 0});
        }
    }
    const size_t ofData = waits_.size();
    waits_.push_back({communicator_.FailureDescriptor(), POLLIN, 0});
    communicator_.peers().AddWaits(&waits_);
    if (poll(waits_.data(), waits_.size(), deadline_.Milliseconds()) <= 0) {
        return deadline_.Passed() ? TimedOut() : Outcome{};
    }
    ADVSTEP_HCCL_TRY(communicator_.Failure());
    const bool data = std::any_of(waits_.begin(), waits_.begin() + static_cast<ptrdiff_t>(ofData),
                                  [](const pollfd& wait) { return wait.revents != 0; });
    // What has come before a rank failed is taken first.
    return data ? Outcome{} : communicator_.peers().Hear();
}

Outcome Exchange::TimedOut() const {
    std::string list;
    for (const Flow& flow : flows_) {
        const std::string number = std::to_string(flow.rank);
        if (!flow.messages.empty() && list.size() < 200 &&
            (Text(", ", list, ",")).find(Text(" ", number, ",")) == std::string::npos) {
            list += Text(list.empty() ? "" : ", ", number);
        }
    }
    return Error(HCCL_E_TIMEOUT, "rank ", list, " has not done its part within ",
                 communicator_.origin().executeSeconds, " s (HCCL_EXEC_TIMEOUT)");
}

Outcome Exchange::Run() {
    for (;;) {
        bool moved = false;
        bool pending = false;
        for (Flow& flow : flows_) {
            ADVSTEP_HCCL_TRY(Advance(&flow, &moved));
            pending = pending || !flow.messages.empty();
        }
        if (!pending) {
            ++part_;
            return {};
        }
        if (moved) {
            ADVSTEP_HCCL_TRY(communicator_.Failure());
        }
        if (deadline_.Passed()) {
            return TimedOut();
        }
        ADVSTEP_HCCL_TRY(Await());
    }
}

}  // namespace advstep::hccl
