// SPDX-License-Identifier: Apache-2.0
// The records of tasks in a stream, and tickets, which are places in a stream.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/task/touched_memory.h"
#include "src/runtime/task/wait_facts.h"

namespace advstep {

class TraceArgs;

enum class TaskKind : uint8_t {
    kPlain,         // a kernel, a copy: ends by itself
    kHostFunction,  // the user's code: may block for as long as it likes
    kTicketWait,    // a TicketWaitTask: ends when its ticket is reached; never run
    kPollWait,      // a PollWaitTask: ends when its condition holds
    kAlways,        // runs even if it is among the tasks to be skipped
    kBranchEnd,     // a BranchEndTask: runs even then, and `skipBranch` is called at once
};

/// How long a task may take.
enum class TaskLength : uint8_t {
    kUsual,
    kBrief,   // a few us, seldom as long as a heavy one, and no lock under which a stream's lock is
              // taken: the thread that runs it may keep the stream's lock
    kByData,  // brief or unknown: TaskType::isBrief decides when it is the oldest task of its
              // stream
    kUnknown,  // perhaps as long as a heavy one, mostly not: an enqueue wakes no resting thread
    kHeavy,    // longer than a sleeping thread takes until it runs when woken: 10 to 30 us
};

/// Why a task is not run.
enum class TaskSkip : uint8_t { kNot, kDestroyed, kAborted, kDeviceAborted, kStopped };

/// The heading under which the trace shows a task. A host function and a wait have a heading by
/// their kind.
enum class TaskCategory : uint8_t { kOther, kKernel, kMemory };

struct Task;
struct PollWaitTask;

/// The functions of all tasks of one kind. It is static data.
struct TaskType {
    /// Adds what the trace shows of the task beside its name. Null: the trace shows no more.
    void (*describe)(const Task& task, TraceArgs* args) = nullptr;
    /// Returns whether a task whose data decide is brief, by what is in memory before it is run. It
    /// may be called under the stream's lock, so it must take no lock under which a stream's lock
    /// is taken.
    bool (*isBrief)(const Task& task) = nullptr;
    /// Tells the memory that the task may touch when it runs. It reads the record only, and nothing
    /// in it that changes while the task runs, because another thread may be running it. Null: the
    /// task may touch any memory.
    void (*listMemory)(const Task& task, TouchedMemory* touched) = nullptr;
    const char* call = nullptr;   // that queues such tasks; null: the name of the task says it
    bool describesCrash = false;  // others describe its crashes: RunningWork does not
    /// Tells what a PollWaitTask waits for, and changes nothing. It is called as `holds` is. Null:
    /// nothing is known.
    WaitFacts (*explain)(const PollWaitTask& task) = nullptr;
    bool tellsHost = false;    // the program may learn from it that the stream has come so far
    bool endedByHost = false;  // a PollWaitTask that a call of the host ends, after no other work
};

/// The type of tasks of which there is nothing to say, and which touch no memory of a program.
inline constexpr TaskType kTouchesNothing = {nullptr, nullptr, [](const Task&, TouchedMemory*) {}};

/// The head of a queued record. The arguments of `run` follow it, as the members of a derived
/// struct. A record is plain data: it is copied as bytes and never destroyed.
struct Task {
    Status (*run)(const Task& task) = nullptr;
    const char* name = nullptr;  // static text, for people
    TaskKind kind = TaskKind::kPlain;
    TaskLength length = TaskLength::kUsual;
    TaskSkip skip = TaskSkip::kNot;  // set in the queue, before the task is run
    TaskCategory category = TaskCategory::kOther;
    uint32_t bytes = 0;              // of the whole record, a multiple of kTaskAlignment
    const TaskType* type = nullptr;  // null: there is nothing to say

    bool heavy() const { return length == TaskLength::kHeavy; }
    /// Returns whether the task may take long, so that others must not be held up by it. The thread
    /// that asks has the stream's claim, and the task is not to be skipped.
    bool mayTakeLong() const {
        return length >= TaskLength::kUnknown || kind == TaskKind::kHostFunction ||
               (length == TaskLength::kByData && !type->isBrief(*this));
    }
    /// Returns whether the host may learn from the run of the task that the stream has come so far.
    bool TellsHost() const {
        return kind == TaskKind::kHostFunction || (type != nullptr && type->tellsHost);
    }
    /// Returns whether the task is a WaitTask.
    bool waits() const { return kind == TaskKind::kTicketWait || kind == TaskKind::kPollWait; }
    bool always() const { return kind == TaskKind::kAlways || kind == TaskKind::kBranchEnd; }
    /// Returns whether the task is brief. A task that is not to be skipped is asked right before it
    /// is run, because the data decide.
    bool brief() const {
        return length == TaskLength::kBrief ||
               (length == TaskLength::kByData && type->isBrief(*this));
    }
    /// Tells the memory that the task may still touch. It is in a queue, and has not ended.
    void ListMemory(TouchedMemory* touched) const {
        if (kind == TaskKind::kTicketWait || (skip != TaskSkip::kNot && !always())) {
            return;
        }
        if (type != nullptr && type->listMemory != nullptr) {
            type->listMemory(*this, touched);
        } else {
            touched->Any();
        }
    }
    void Describe(TraceArgs* args) const {
        if (type != nullptr && type->describe != nullptr) {
            type->describe(*this, args);
        }
    }
};

inline constexpr size_t kTaskAlignment = 16;

constexpr size_t AlignedTaskBytes(size_t bytes) {
    return (bytes + kTaskAlignment - 1) / kTaskAlignment * kTaskAlignment;
}

/// A wait with a timeout. Its time starts when the wait becomes the oldest task of its stream. A
/// wait that expires is a task that fails with 107019.
struct WaitTask : Task {
    int64_t timeoutNanoseconds = 0;  // 0: for ever
};

struct TicketWaitTask : WaitTask {
    Ticket ticket;
    bool outlastsStop = false;  // aclrtStreamStop does not end it
};

/// The end of a branch that another stream runs for this one. If the task is to be skipped,
/// `skipBranch` skips the branch at once: a wait in the branch for a task of this stream would
/// otherwise end when that task ends without having run, and the branch would continue. Branches
/// may wait for each other, too. So `redirectWaits` is called for all branches first. It makes the
/// remaining waits of a branch wait for this task, whose place is `self`. Both are called under the
/// lock of this stream, and take the lock of the other one, which is a model's own (stream.h).
struct BranchEndTask : Task {
    void (*redirectWaits)(const BranchEndTask& task, const Ticket& self) = nullptr;
    void (*skipBranch)(const BranchEndTask& task) = nullptr;
};

/// A wait for a condition that is no place in a stream. The thread that makes the condition true
/// wakes the workers. `recheck` makes them look again and again, for a condition that any thread
/// may make true unannounced.
struct PollWaitTask : WaitTask {
    /// Returns whether the condition holds. It is called under the stream's lock, so it must take
    /// no lock under which a stream's lock is taken. It is not called again after it has returned
    /// true, so it may consume what it found. `run`, if there is one, then returns the result of
    /// the wait.
    bool (*holds)(PollWaitTask& task) = nullptr;
    bool recheck = false;
    bool endsTaskBefore = false;  // the task before begins what this waits for: they are one task
    uint64_t thread = 0;          // pthread_self() of the one that can make it true; 0: any
    /// Returns the place without which the condition does not become true. A thread that waits goes
    /// there. It is called as `holds` is, after that has returned false. Null: there is no place.
    Ticket (*place)(const PollWaitTask& task) = nullptr;
};

}  // namespace advstep
