// SPDX-License-Identifier: Apache-2.0
// The state of the schedule under way: its threads, what has happened, what threads share.

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/schedules/fiber.h"
#include "tests/schedules/scheduler.h"

namespace schedules {

inline constexpr int64_t kNoDeadline = std::numeric_limits<int64_t>::max();

struct Thread {
    enum class State { kReady, kBlocked, kEnded };
    State state = State::kReady;
    Op op = Op::kStart;
    const void* object = nullptr;
    int64_t deadline = kNoDeadline;
    bool expired = false;
    std::vector<const void*> locks;
    std::unique_ptr<Fiber> fiber;
};

struct Event {
    int thread;
    Op op;
    const void* object;
};

// How the threads of all schedules so far have used an object.
struct Sharing {
    uint64_t threads = 0;  // bits
    bool written = false;
    bool used = false;
    std::vector<const void*> locks;  // those that were held every time
    void Note(const Thread& thread, int number, Op op);
    /// Returns whether an order of the uses can matter.
    bool Meets() const { return written && locks.empty() && (threads & (threads - 1)) != 0; }
};

struct Schedule {
    Chooser* chooser = nullptr;
    bool active = false, controlled = false, learning = false;
    int current = 0;
    int64_t now = 0;
    uint64_t points = 0;
    uint64_t choices = 0;
    std::vector<Thread> threads;
    std::vector<Option> options;
    std::vector<std::pair<uint64_t, size_t>> deviations;  // choice, option
    std::vector<Event> events;
    std::unordered_map<const void*, Sharing> sharing;
    std::unordered_map<const void*, int> names;
    Fiber* host = nullptr;
};

Schedule& The();

void PrintEvent(const Event& event);

/// Prints what happened and how to repeat it, and ends the process.
[[noreturn]] void Fail(const std::string& what);

}  // namespace schedules
