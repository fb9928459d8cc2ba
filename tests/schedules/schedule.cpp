// SPDX-License-Identifier: Apache-2.0
// Keeps the state of the schedule under way, and reports its failure.
#include "tests/schedules/schedule.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace schedules {
namespace {

constexpr size_t kShownPoints = 40;

const char* const kOpNames[] = {"load",   "store", "change", "lock", "wait",
                                "notify", "sleep", "start",  "join"};

int NameOf(const void* object) {
    return The().names.emplace(object, static_cast<int>(The().names.size())).first->second;
}

}  // namespace

void Sharing::Note(const Thread& thread, int number, Op op) {
    threads |= uint64_t{1} << (static_cast<unsigned>(number) % 64U);
    written |= op != Op::kLoad;
    if (!std::exchange(used, true)) {
        locks = thread.locks;
    }
    const auto isHeld = [&](const void* lock) {
        return std::find(thread.locks.begin(), thread.locks.end(), lock) != thread.locks.end();
    };
    locks.erase(
        std::remove_if(locks.begin(), locks.end(), [&](const void* lock) { return !isHeld(lock); }),
        locks.end());
}

Schedule& The() {
    static Schedule schedule;
    return schedule;
}

void PrintEvent(const Event& event) {
    std::fprintf(stderr, "    thread %d: %s #%d\n", event.thread,
                 kOpNames[static_cast<int>(event.op)], NameOf(event.object));
}

void Fail(const std::string& what) {
    Schedule& all = The();
    std::fprintf(stderr, "FAILED in thread %d: %s\n", all.current, what.c_str());
    const size_t shown = all.events.size() < kShownPoints ? all.events.size() : kShownPoints;
    std::fprintf(stderr, "  the last %zu of %zu points:\n", shown, all.events.size());
    for (size_t i = all.events.size() - shown; i < all.events.size(); ++i) {
        PrintEvent(all.events[i]);
    }
    for (size_t i = 0; i < all.threads.size(); ++i) {
        const Thread& thread = all.threads[i];
        const char* const state = thread.state == Thread::State::kReady   ? "can run, before"
                                  : thread.state == Thread::State::kEnded ? "has ended"
                                                                          : "sleeps in";
        std::fprintf(stderr, "  thread %zu %s", i, state);
        if (thread.state != Thread::State::kEnded) {
            std::fprintf(stderr, " %s #%d", kOpNames[static_cast<int>(thread.op)],
                         NameOf(thread.object));
        }
        std::fputc('\n', stderr);
    }
    std::string choices;
    for (const auto& [choice, option] : all.deviations) {
        choices +=
            (choices.empty() ? "" : ",") + std::to_string(choice) + ":" + std::to_string(option);
    }
    std::fprintf(stderr, "  again: %s\n  the same by its choices: --choices %s\n",
                 TheSettings().again.c_str(), choices.empty() ? "none" : choices.c_str());
    std::fflush(stderr);
    _exit(1);
}

}  // namespace schedules
