// SPDX-License-Identifier: Apache-2.0
// The life of a communicator, and its failures.

#include "src/hccl/communicator.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace advstep::hccl {

Communicator::Communicator(Origin origin)
    : sent(origin.group.size()), received(origin.group.size()), origin_(std::move(origin)) {}

Communicator::~Communicator() { Destroy(); }

Outcome Communicator::Make(Origin origin, std::shared_ptr<Communicator>* communicator) {
    std::shared_ptr<Communicator> made(new Communicator(std::move(origin)));
    const int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0) {
        return Error(HCCL_E_SYSCALL, "eventfd failed: ", ErrorText(errno));
    }
    made->failed_ = Socket(descriptor);
    const Origin& own = made->origin_;
    ADVSTEP_HCCL_TRY(
        Peers::Meet(own.group, own.lobby.get(), Deadline(own.connectSeconds), &made->peers_));
    *communicator = std::move(made);
    return {};
}

Outcome Communicator::Failure() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return failure_;
}

Outcome Communicator::AsyncError() {
    ADVSTEP_HCCL_TRY(Failure());
    const Outcome heard = peers_->HearOfEnds();
    if (!heard.ok()) {
        Fail(heard);
    }
    return Failure();
}

// Returns whether this is the first failure.
bool Communicator::Keep(const Outcome& failure) noexcept {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!failure_.ok()) {
            return false;
        }
        failure_.code = failure.code;
        try {
            failure_.message = failure.message;
        } catch (...) {
            failure_.message.clear();
        }
    }
    const uint64_t one = 1;
    (void)!write(failed_.descriptor(), &one, sizeof one);
    turns_.Stop();
    return true;
}

void Communicator::Fail(const Outcome& failure) noexcept {
    if (Keep(failure) && peers_ != nullptr) {
        peers_->TellFailure(failure);
    }
}

void Communicator::Destroy() noexcept {
    try {
        (void)Keep(Error(HCCL_E_UNAVAIL, "the communicator has been destroyed"));
    } catch (...) {
        (void)Keep({HCCL_E_UNAVAIL, {}});
    }
    if (peers_ != nullptr) {
        peers_->SayGoodbye();
    }
}

void Communicator::AbortWork() noexcept {
    if (!turns_.IsBusy()) {
        return;
    }
    try {
        Fail(Error(HCCL_E_SUSPENDING, "the work of device ", origin_.device, " was aborted"));
    } catch (...) {
        Fail({HCCL_E_SUSPENDING, {}});
    }
}

}  // namespace advstep::hccl
