// SPDX-License-Identifier: Apache-2.0
// Serves the requests of a client.

#include "src/adxl/service.h"

#include <algorithm>
#include <utility>

namespace advstep::transfer {

bool Inbox::Put(Notify notify) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (notifies_.size() >= kMostNotifies) {
        return false;
    }
    notifies_.push_back(std::move(notify));
    return true;
}

std::vector<Notify> Inbox::Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(notifies_, {});
}

void Service::Run() {
    piece_.resize(kPieceBytes);
    bool goesOn = true;
    while (goesOn) {
        Request request{};
        if (channel_.Receive(&request, sizeof(request), kNoDeadline) != Io::kDone) {
            return;
        }
        switch (request.kind) {
            case RequestKind::kWrite:
            case RequestKind::kRead:
                goesOn = ServeTransfer(request);
                break;
            case RequestKind::kNotify:
                goesOn = ServeNotify(request);
                break;
            default:
                goesOn = false;
        }
    }
}

bool Service::ServeTransfer(const Request& request) {
    if (!ReceiveRanges(request)) {
        return false;
    }
    const Outcome checked = CheckRanges(request);
    if (!checked.Ok() || request.kind == RequestKind::kWrite) {
        if (SendAnswer(channel_, checked) != Io::kDone) {
            return false;
        }
    }
    if (!checked.Ok()) {
        return true;
    }
    return request.kind == RequestKind::kWrite ? TakeBytes(request.bytes)
                                               : GiveBytes(request.bytes);
}

bool Service::ReceiveRanges(const Request& request) {
    if (request.count == 0 || request.count > kMostRanges) {
        return false;
    }
    ranges_.resize(request.count);
    return channel_.Receive(ranges_.data(), ranges_.size() * sizeof(Range), kNoDeadline) ==
           Io::kDone;
}

Outcome Service::CheckRanges(const Request& request) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < ranges_.size(); ++i) {
        if (!memory_.Holds(ranges_[i])) {
            return Fail(adxl::PARAM_INVALID,
                        "op_descs[{}] has {} bytes from remote_addr {:#x}, which the remote engine "
                        "has not registered; expected a range inside one registration",
                        i, ranges_[i].bytes, ranges_[i].address);
        }
        // No registration is so large that the sum is another number by chance.
        if (__builtin_add_overflow(bytes, ranges_[i].bytes, &bytes)) {
            break;
        }
    }
    if (bytes != request.bytes) {
        return Fail(adxl::PARAM_INVALID, "op_descs have other bytes than the request");
    }
    return {};
}

bool Service::TakeBytes(uint64_t bytes) {
    RangeStream stream(memory_, ranges_);
    Outcome copied;
    while (bytes > 0 && copied.Ok()) {
        const size_t count = std::min<uint64_t>(bytes, piece_.size());
        if (channel_.Receive(piece_.data(), count, kNoDeadline) != Io::kDone) {
            return false;
        }
        copied = stream.Copy(RegisteredMemory::Way::kTo, piece_.data(), count);
        bytes -= count;
    }
    return SendAnswer(channel_, copied) == Io::kDone && copied.Ok();
}

bool Service::GiveBytes(uint64_t bytes) {
    RangeStream stream(memory_, ranges_);
    while (bytes > 0) {
        const size_t count = std::min<uint64_t>(bytes, piece_.size());
        const Outcome copied = stream.Copy(RegisteredMemory::Way::kFrom, piece_.data(), count);
        if (!copied.Ok()) {
            (void)SendAnswer(channel_, copied);
            return false;
        }
        const Answer answer{adxl::SUCCESS, static_cast<uint32_t>(count)};
        if (channel_.Send(&answer, sizeof(answer), kNoDeadline) != Io::kDone ||
            channel_.Send(piece_.data(), count, kNoDeadline) != Io::kDone) {
            return false;
        }
        bytes -= count;
    }
    return true;
}

bool Service::ServeNotify(const Request& request) {
    if (request.count > kMostNotifyBytes || request.bytes > kMostNotifyBytes) {
        return false;
    }
    Notify notify;
    notify.name.resize(request.count);
    notify.message.resize(request.bytes);
    if (channel_.Receive(notify.name.data(), notify.name.size(), kNoDeadline) != Io::kDone ||
        channel_.Receive(notify.message.data(), notify.message.size(), kNoDeadline) != Io::kDone) {
        return false;
    }
    const Outcome put = inbox_.Put(std::move(notify))
                            ? Outcome()
                            : Fail(adxl::NOTIFY_FAILED,
                                   "the remote engine has {} messages that nobody has taken; "
                                   "expected it to call GetNotifies",
                                   kMostNotifies);
    return SendAnswer(channel_, put) == Io::kDone;
}

}  // namespace advstep::transfer
