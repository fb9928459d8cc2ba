// SPDX-License-Identifier: Apache-2.0
// The controlled scheduler: one thread runs at a time, and every synchronisation is a choice.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace schedules {

enum class Op : uint8_t { kLoad, kStore, kChange, kLock, kWait, kNotify, kSleep, kStart, kJoin };

/// One way to go on: the thread that runs next. Threads in a wait with a deadline may go on, too:
/// then the deadline has come.
struct Option {
    int thread;
    int cost;       // 1: a preemption, or a deadline that comes while others could run
    bool deadline;  // the thread's deadline comes; the last option, if any
};

/// Makes the choices of one schedule after another.
class Chooser {
 public:
    virtual ~Chooser() = default;
    /// Returns the index of the option to take; there are at least two. The first one is to go on
    /// without a preemption.
    virtual size_t Choose(const std::vector<Option>& options) = 0;
    /// Prepares the next schedule. False: there is none.
    virtual bool Next() = 0;
    /// Whether points at which threads cannot meet, as far as seen, are left out.
    virtual bool Reduces() const { return false; }
};

/// Runs `body` as the first thread of a schedule and returns when all threads have ended. A
/// deadlock, a failed check or a schedule without end prints how to run it again and ends the
/// process with status 1.
void RunSchedule(Chooser* chooser, const std::function<void()>& body);

struct Settings {
    std::string again;   // the arguments that run the schedule again, for a failure
    bool trace = false;  // prints every point
};
Settings& TheSettings();

/// From here on synchronisation points are choices, or not any more. Threads that start before are
/// under control as well.
void Control(bool on);

// What the layer and the scenarios call.

/// A place at which another thread may run: before an operation on an object that threads share.
void Point(Op op, const void* object);
/// Sleeps until WakeAll or WakeOne of the object.
void Block(Op op, const void* object);
/// As Block, until the deadline at the latest. Returns whether it has come.
bool BlockUntil(Op op, const void* object, int64_t deadline);
void WakeAll(const void* object);
/// Wakes one thread, and which one is a choice.
void WakeOne(const void* object);

/// Notes that the running thread takes or leaves a lock. What is only ever used with one lock held
/// needs no points of its own.
void NoteLock(const void* lock, bool taken);

/// Returns the virtual time in nanoseconds. It goes on when no thread can run, when a deadline
/// comes early, and a little with every look.
int64_t Now();

int Start(std::function<void()> body);
void Join(int thread);
/// Returns the number of the running thread, from 0.
int Self();

/// Fails the schedule unless the condition holds.
void Expect(bool holds, const std::string& what);

/// Returns how many choices the recent schedule had.
uint64_t ChoicesMade();
/// Remembers, from now on, which objects threads share, or uses what has been seen so far.
void LearnShared(bool learn);

}  // namespace schedules
