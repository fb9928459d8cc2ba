// SPDX-License-Identifier: Apache-2.0
// Implements the failing, delaying and holding tasks.

#include "src/runtime/commands/stream_fault.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_set>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/stream/streams.h"

namespace advstep {
namespace {

struct FailureTask : Task {
    int32_t code;
};

struct DelayTask : Task {
    int64_t microseconds;
};

struct HoldTask : PollWaitTask {
    uint64_t hold;
};

// Never destroyed: streams may be held after main().
struct Holds {
    std::mutex mutex;  // guards the others; taken under a stream's lock, no lock after it
    std::unordered_set<uint64_t> held;
    uint64_t last = 0;
};

Holds& TheHolds() {
    static NeverDestroyed<Holds> holds;
    return *holds;
}

bool Released(uint64_t hold) {
    Holds& holds = TheHolds();
    const std::lock_guard<std::mutex> lock(holds.mutex);
    return holds.held.count(hold) == 0;
}

// A new hold, which is removed again unless it has been queued.
class HoldGuard {
 public:
    HoldGuard() {
        Holds& holds = TheHolds();
        const std::lock_guard<std::mutex> lock(holds.mutex);
        hold_ = *holds.held.insert(holds.last + 1).first;
        holds.last = hold_;
    }
    ~HoldGuard() {
        if (!queued_) {
            const std::lock_guard<std::mutex> lock(TheHolds().mutex);
            TheHolds().held.erase(hold_);
        }
    }
    HoldGuard(const HoldGuard&) = delete;
    HoldGuard& operator=(const HoldGuard&) = delete;

    uint64_t hold() const { return hold_; }
    void Queued() { queued_ = true; }

 private:
    uint64_t hold_ = 0;
    bool queued_ = false;
};

}  // namespace

Status EnqueueFailure(const StreamRef& stream, int32_t code) {
    return stream.Enqueue(sizeof(FailureTask), [&](void* memory) {
        auto* const task = new (memory) FailureTask;
        task->name = "injected failure";
        task->code = code;
        task->run = [](const Task& base) {
            const int32_t wanted = static_cast<const FailureTask&>(base).code;
            return Error(wanted, "advstepFailStream: made to fail with {}", wanted);
        };
        return task;
    });
}

Status EnqueueDelay(const StreamRef& stream, uint64_t microseconds) {
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max() / 1000);
    return stream.Enqueue(sizeof(DelayTask), [&](void* memory) {
        auto* const task = new (memory) DelayTask;
        task->name = "injected delay";
        task->length = TaskLength::kHeavy;
        task->microseconds = static_cast<int64_t>(std::min(microseconds, kMost));
        task->run = [](const Task& base) {
            const NoCancellation noCancellation;
            std::this_thread::sleep_for(
                std::chrono::microseconds(static_cast<const DelayTask&>(base).microseconds));
            return Status();
        };
        return task;
    });
}

Status EnqueueHold(const StreamRef& stream, uint64_t* hold) {
    HoldGuard guard;
    Work work(sizeof(HoldTask));
    work.refusal = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    work.refusalText = "the task is a hold, which no replay could release; expected none";
    ADVSTEP_RETURN_IF_ERROR(stream.Enqueue(work, [&](void* memory) {
        auto* const task = new (memory) HoldTask;
        task->name = "hold";
        task->kind = TaskKind::kPollWait;
        task->hold = guard.hold();
        task->holds = [](PollWaitTask& base) {
            return Released(static_cast<const HoldTask&>(base).hold);
        };
        static constexpr TaskType kType = {
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            false,
            [](const PollWaitTask& base) {
                WaitFacts facts;
                facts.giver = WaitGiver::kProcess;
                facts.holds = Released(static_cast<const HoldTask&>(base).hold);
                facts.text = "an advstepReleaseHold";
                return facts;
            },
            false,
            true};
        task->type = &kType;
        return task;
    }));
    guard.Queued();
    *hold = guard.hold();
    return {};
}

Status ReleaseHold(uint64_t hold) {
    {
        const std::lock_guard<std::mutex> lock(TheHolds().mutex);
        if (TheHolds().held.erase(hold) == 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "hold is {}, which is no hold or has been released; expected one of "
                         "advstepHoldStream",
                         hold);
        }
    }
    TheWorkers().Wake();  // the progress of a stream does not wake threads for a hold
    return {};
}

void ReleaseAllHolds() {
    {
        const std::lock_guard<std::mutex> lock(TheHolds().mutex);
        if (TheHolds().held.empty()) {
            return;
        }
        TheHolds().held.clear();
    }
    TheWorkers().Wake();
}

}  // namespace advstep
