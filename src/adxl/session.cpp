// SPDX-License-Identifier: Apache-2.0
// Sends requests to another engine.

#include "src/adxl/session.h"

#include <algorithm>

namespace advstep::transfer {

// Waits for the requests before this one, and ends the connection if the request is left half done:
// by a failure, or by an exception.
class Session::Turn {
 public:
    Turn(Session& session, Deadline until) : session_(session) {
        std::unique_lock<std::mutex> lock(session_.mutex_);
        isOurs_ = session_.free_.wait_until(lock, until, [&] { return !session_.isBusy_; });
        session_.isBusy_ = session_.isBusy_ || isOurs_;
    }
    ~Turn() {
        if (!isOurs_) {
            return;
        }
        if (!isWhole_) {
            session_.End();
        }
        const std::lock_guard<std::mutex> lock(session_.mutex_);
        session_.isBusy_ = false;
        session_.free_.notify_one();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool IsOurs() const { return isOurs_; }
    void SetWhole() { isWhole_ = true; }

 private:
    Session& session_;
    bool isOurs_ = false;
    bool isWhole_ = false;
};

Outcome Session::Broken(Io io) const {
    if (io == Io::kTimeout) {
        return Fail(adxl::TIMEOUT, "engine {} did not do it in time; the connection has ended",
                    name_.text);
    }
    return Fail(adxl::NOT_CONNECTED, "engine {} or the connection to it has ended", name_.text);
}

void Session::End() noexcept {
    ended_.store(true);
    channel_.Shutdown();
}

bool Session::IsAlive() {
    if (ended_.load()) {
        return false;
    }
    // An idle connection has nothing to read; a request in progress learns of an end by itself.
    const std::lock_guard<std::mutex> lock(mutex_);
    return isBusy_ || !channel_.HasEnded();
}

Outcome Session::Run(const Transfer& transfer, RegisteredMemory& memory, Deadline until) {
    Turn turn(*this, until);
    if (!turn.IsOurs()) {
        return Fail(adxl::TIMEOUT, "requests before this one kept engine {} busy until its time",
                    name_.text);
    }
    Outcome outcome = RunInTurn(transfer, memory, until);
    // The server refuses ranges before a byte moves, and then waits for the next request.
    if (outcome.Ok() || outcome.status == adxl::PARAM_INVALID) {
        turn.SetWhole();
    }
    return outcome;
}

Outcome Session::RunInTurn(const Transfer& transfer, RegisteredMemory& memory, Deadline until) {
    const Request request{transfer.kind, static_cast<uint32_t>(transfer.remote.size()),
                          transfer.bytes};
    Io io = channel_.Send(&request, sizeof(request), until);
    if (io == Io::kDone) {
        io = channel_.Send(transfer.remote.data(), transfer.remote.size() * sizeof(Range), until);
    }
    if (io != Io::kDone) {
        return Broken(io);
    }
    return transfer.kind == RequestKind::kWrite ? SendBytes(transfer, memory, until)
                                                : ReceiveBytes(transfer, memory, until);
}

Outcome Session::Await(Deadline until, uint32_t* bytes) {
    Outcome outcome;
    const Io io = ReceiveAnswer(channel_, until, &outcome, bytes);
    return io == Io::kDone ? outcome : Broken(io);
}

Outcome Session::SendBytes(const Transfer& transfer, RegisteredMemory& memory, Deadline until) {
    uint32_t none = 0;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(Await(until, &none));
    RangeStream stream(memory, transfer.local);
    std::vector<char> piece(std::min<uint64_t>(transfer.bytes, kPieceBytes));
    uint64_t rest = transfer.bytes;
    while (rest > 0) {
        const size_t count = std::min<uint64_t>(rest, piece.size());
        ADVSTEP_TRANSFER_RETURN_IF_ERROR(
            stream.Copy(RegisteredMemory::Way::kFrom, piece.data(), count));
        if (const Io io = channel_.Send(piece.data(), count, until); io != Io::kDone) {
            // A server that cannot go on has said why before it closed the connection.
            return io == Io::kTimeout ? Broken(io) : Await(until, &none);
        }
        rest -= count;
    }
    return Await(until, &none);
}

Outcome Session::ReceiveBytes(const Transfer& transfer, RegisteredMemory& memory, Deadline until) {
    RangeStream stream(memory, transfer.local);
    std::vector<char> piece(std::min<uint64_t>(transfer.bytes, kPieceBytes));
    uint64_t rest = transfer.bytes;
    while (rest > 0) {
        uint32_t count = 0;
        ADVSTEP_TRANSFER_RETURN_IF_ERROR(Await(until, &count));
        if (count == 0 || count > rest || count > piece.size()) {
            return Broken(Io::kEnded);
        }
        if (const Io io = channel_.Receive(piece.data(), count, until); io != Io::kDone) {
            return Broken(io);
        }
        ADVSTEP_TRANSFER_RETURN_IF_ERROR(
            stream.Copy(RegisteredMemory::Way::kTo, piece.data(), count));
        rest -= count;
    }
    return {};
}

Outcome Session::Send(const Notify& notify, Deadline until) {
    Turn turn(*this, until);
    if (!turn.IsOurs()) {
        return Fail(adxl::TIMEOUT, "requests before this one kept engine {} busy until its time",
                    name_.text);
    }
    const Request request{RequestKind::kNotify, static_cast<uint32_t>(notify.name.size()),
                          notify.message.size()};
    Io io = channel_.Send(&request, sizeof(request), until);
    if (io == Io::kDone) {
        io = channel_.Send(notify.name.data(), notify.name.size(), until);
    }
    if (io == Io::kDone) {
        io = channel_.Send(notify.message.data(), notify.message.size(), until);
    }
    if (io != Io::kDone) {
        return Broken(io);
    }
    uint32_t none = 0;
    Outcome outcome = Await(until, &none);
    if (outcome.Ok() || outcome.status == adxl::NOTIFY_FAILED) {
        turn.SetWhole();
    }
    return outcome;
}

}  // namespace advstep::transfer
