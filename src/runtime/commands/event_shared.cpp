// SPDX-License-Identifier: Apache-2.0
// The parts of an event that concern other processes.
#include <chrono>
#include <thread>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/device/device.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

RetiredStates& RetiredBoards() {
    static NeverDestroyed<RetiredStates> boards;
    return *boards;
}

}  // namespace

// Retires the words that processes share, because queued waits and records still use them.
void Event::RetireStates() {
    if (board_ != nullptr) {
        RetiredBoards().Add(&board_->State(), PendingPlaces(nullptr));
        board_.reset();
    }
    if (setting_ != nullptr) {
        RetiredBoards().Add(&setting_, PendingPlaces(nullptr));
    }
}

void Event::ReclaimStates() noexcept { RetiredBoards().Reclaim(); }

Status Event::RecordShared(const StreamRef& stream) {
    uint64_t number = 0;
    Ticket ticket;
    ADVSTEP_RETURN_IF_ERROR(board_->Record(stream, &number, &ticket));
    record_ = ticket;
    boardNumber_ = number;
    return {};
}

Status Event::Export(Handle handle, ShareKey* key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    if (board_ == nullptr || board_->State()->Imported()) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "event {} is {}; expected one of aclrtCreateEventExWithFlag with "
                     "ACL_EVENT_IPC",
                     ToPointer(handle),
                     board_ == nullptr ? "not of ACL_EVENT_IPC" : "of aclrtIpcOpenEventHandle");
    }
    return board_->State()->Export(ShareKind::kEvent, true, key);
}

Status Event::SynchronizeShared(Handle handle, const WaitLimit& limit, bool* shared, Ticket* own) {
    constexpr std::chrono::microseconds kLook(100);
    uint64_t latest = 0;
    uint64_t aborts = 0;
    for (bool first = true;; first = false) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
            *shared = board_ != nullptr;
            if (!*shared) {
                return {};
            }
            const uint64_t abortsNow = traits_.device->abortsEver().load();
            aborts = first ? abortsNow : aborts;
            if (abortsNow != aborts) {
                return Error(ACL_ERROR_RT_DEVICE_TASK_ABORT,
                             "the work of device {} was aborted during the wait for event {}; "
                             "expected no aclrtDeviceTaskAbort meanwhile",
                             traits_.device->id(), ToPointer(handle));
            }
            latest = latest != 0 ? latest : board_->Latest();
            if (latest == boardNumber_ && latest != 0) {
                *own = record_;  // the caller waits for it, and may run it
                return {};
            }
            if (board_->Complete(latest)) {
                return {};
            }
        }
        ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
        if (limit.Expired()) {
            return ExpiredError(limit);
        }
        const NoCancellation noCancellation;
        std::this_thread::sleep_for(kLook);  // no process wakes threads of another one
    }
}

}  // namespace advstep
