// SPDX-License-Identifier: Apache-2.0
// Implements the records that processes share.

#include "src/runtime/commands/event_board.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>

#include "acl/acl_base.h"
#include "src/runtime/stream/streams.h"

namespace advstep {

struct EventBoard::Words {
    std::atomic<uint64_t> issued;  // the greatest number that a record has
    std::atomic<uint64_t> latest;  // the greatest one that is queued
    /// Record n is in slot n % kMostRecords, as 2 * n, and as 2 * n + 1 when it is complete. A slot
    /// is taken again only after its record is complete.
    std::array<std::atomic<uint64_t>, kMostRecords> slots;
};

namespace {

static_assert(std::atomic<uint64_t>::is_always_lock_free, "processes share them");

struct BoardRecordTask : Task {
    std::atomic<uint64_t>* slot;
    uint64_t number;
};

struct BoardWaitTask : PollWaitTask {
    const std::atomic<uint64_t>* slot;
    uint64_t number;
};

// A greater number in the slot means that the record was complete before.
bool SlotComplete(const std::atomic<uint64_t>& slot, uint64_t number) {
    return slot.load() > 2 * number;
}

// Returns work that captures refuse, because other processes have the event.
Work Uncaptured(size_t recordBytes) {
    Work work(recordBytes);
    work.refusal = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    work.refusalText = "the event is of ACL_EVENT_IPC; expected another one in a capture";
    return work;
}

}  // namespace

Status EventBoard::Make(std::unique_ptr<EventBoard>* board) {
    std::unique_ptr<SharedState> state;
    ADVSTEP_RETURN_IF_ERROR(SharedState::Make(sizeof(Words), &state));
    board->reset(new EventBoard(std::move(state)));
    return {};
}

Status EventBoard::Import(const ShareKey& key, std::unique_ptr<EventBoard>* board) {
    std::unique_ptr<SharedState> state;
    ADVSTEP_RETURN_IF_ERROR(
        SharedState::Import(ShareKind::kEvent, key, "handle", sizeof(Words), &state));
    board->reset(new EventBoard(std::move(state)));
    return {};
}

Status EventBoard::CheckUncaptured(const StreamRef& stream) {
    Status free = stream.CheckFree();
    if (free.code() != ACL_ERROR_RT_STREAM_CAPTURED) {
        return free;
    }
    const Work work = Uncaptured(0);
    return Error(work.refusal, "{}", work.refusalText);
}

uint64_t EventBoard::Latest() const { return Get()->latest.load(); }

bool EventBoard::Complete(uint64_t number) const {
    return number == 0 || SlotComplete(Get()->slots[number % kMostRecords], number);
}

// A record that takes a slot takes its number. A slot whose record is under way is passed over,
// because the process of that record may have ended. The words are what other processes have
// written there, so a loop over them ends by itself.
Status EventBoard::TakeSlot(uint64_t* number, std::atomic<uint64_t>** slot) {
    Words& words = *Get();
    constexpr int kMostTries = 1000000;
    uint64_t before = words.issued.load();
    uint64_t passed = 0;
    for (int tries = 0; tries < kMostTries; ++tries) {
        *number = before + 1;
        *slot = &words.slots[*number % kMostRecords];
        uint64_t old = (*slot)->load();
        if (old % 2 == 0 && old != 0 && old < 2 * *number) {
            if (++passed == kMostRecords) {
                return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                             "event has {} records under way; expected fewer, or a "
                             "synchronisation before",
                             kMostRecords);
            }
            before = *number;
            continue;
        }
        if (old < 2 * *number && (*slot)->compare_exchange_strong(old, 2 * *number)) {
            words.issued.store(*number);
            return {};
        }
        before = std::max(words.issued.load(), (*slot)->load() / 2);  // another record has it
    }
    return Error(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
                 "event has records up to {}, and no place for the next one; expected processes "
                 "that write to it by this library only",
                 before);
}

Status EventBoard::Record(const StreamRef& stream, uint64_t* number, Ticket* ticket) {
    uint64_t own = 0;
    std::atomic<uint64_t>* slot = nullptr;
    ADVSTEP_RETURN_IF_ERROR(TakeSlot(&own, &slot));
    // A record that is not queued, also for want of memory, gives its slot back.
    struct Taken {
        std::atomic<uint64_t>* slot;
        uint64_t number;
        bool queued;
        ~Taken() {
            if (!queued) {
                slot->store(2 * number + 1);
            }
        }
    } taken{slot, own, false};
    ADVSTEP_RETURN_IF_ERROR(stream.Enqueue(
        Uncaptured(sizeof(BoardRecordTask)),
        [&](void* memory) {
            auto* const task = new (memory) BoardRecordTask;
            task->name = "event record";
            task->type = &kTouchesNothing;
            task->kind = TaskKind::kAlways;
            task->slot = slot;
            task->number = own;
            task->run = [](const Task& base) {
                const auto& record = static_cast<const BoardRecordTask&>(base);
                record.slot->store(2 * record.number + 1);
                TheWorkers().Wake();
                return Status();
            };
            return task;
        },
        ticket));
    taken.queued = true;
    Words& words = *Get();
    uint64_t latest = words.latest.load();
    while (latest < own && !words.latest.compare_exchange_weak(latest, own)) {
    }
    *number = own;
    return {};
}

Status EventBoard::WaitOn(const StreamRef& stream, uint64_t number,
                          int64_t timeoutNanoseconds) const {
    const std::atomic<uint64_t>* const slot = &Get()->slots[number % kMostRecords];
    return stream.Enqueue(Uncaptured(sizeof(BoardWaitTask)), [&](void* memory) {
        auto* const task = new (memory) BoardWaitTask;
        task->name = "event wait";
        task->type = &kTouchesNothing;
        task->kind = TaskKind::kPollWait;
        task->recheck = true;  // another process wakes no thread of this one
        task->timeoutNanoseconds = timeoutNanoseconds;
        task->slot = slot;
        task->number = number;
        task->holds = [](PollWaitTask& base) {
            const auto& wait = static_cast<const BoardWaitTask&>(base);
            return SlotComplete(*wait.slot, wait.number);
        };
        return task;
    });
}

}  // namespace advstep
