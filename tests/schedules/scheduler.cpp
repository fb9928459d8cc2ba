// SPDX-License-Identifier: Apache-2.0
// Implements the controlled scheduler: threads as fibers, choices, virtual time.
#include "tests/schedules/scheduler.h"

#include <algorithm>
#include <memory>

#include "tests/schedules/schedule.h"

namespace schedules {
namespace {

constexpr int64_t kLook = 5'000;             // nanoseconds that a look at the clock takes
constexpr uint64_t kMostPoints = 2'000'000;  // of a schedule that ends
constexpr int64_t kBetween = 1'000'000'000;  // from one schedule to the next

size_t Choose() {
    Schedule& all = The();
    if (!all.controlled || all.options.size() < 2) {
        return 0;
    }
    const size_t chosen = all.chooser->Choose(all.options);
    if (chosen != 0) {
        all.deviations.emplace_back(all.choices, chosen);
    }
    ++all.choices;
    return chosen;
}

void SwitchTo(int next) {
    Schedule& all = The();
    Thread& thread = all.threads[static_cast<size_t>(next)];
    if (thread.state == Thread::State::kBlocked) {  // its deadline has come
        all.now = thread.deadline > all.now ? thread.deadline : all.now;
        thread.expired = true;
        thread.state = Thread::State::kReady;
        thread.deadline = kNoDeadline;
    }
    if (next != all.current) {
        Fiber* const from = all.threads[static_cast<size_t>(all.current)].fiber.get();
        all.current = next;
        Fiber::Switch(from, thread.fiber.get());
    }
}

// Lets a thread run that can. `stays`: the running one can go on.
void Reschedule(bool stays) {
    Schedule& all = The();
    all.options.clear();
    if (stays) {
        all.options.push_back({all.current, 0, false});
    }
    int timer = -1;
    for (int i = 0; i < static_cast<int>(all.threads.size()); ++i) {
        const Thread& thread = all.threads[static_cast<size_t>(i)];
        if (thread.state == Thread::State::kReady && i != all.current) {
            all.options.push_back({i, stays ? 1 : 0, false});
        }
        if (thread.state == Thread::State::kBlocked && thread.deadline != kNoDeadline &&
            (timer < 0 || thread.deadline < all.threads[static_cast<size_t>(timer)].deadline)) {
            timer = i;
        }
    }
    if (timer >= 0) {
        all.options.push_back({timer, all.options.empty() ? 0 : 1, true});
    }
    if (all.options.empty()) {
        Fail("no thread can run: a deadlock, or nobody was woken");
    }
    SwitchTo(all.options[Choose()].thread);
}

void Note(Op op, const void* object) {
    Schedule& all = The();
    if (++all.points > kMostPoints) {
        Fail("the schedule does not end");
    }
    Thread& self = all.threads[static_cast<size_t>(all.current)];
    self.op = op;
    self.object = object;
    if (!all.controlled) {
        return;
    }
    all.events.push_back({all.current, op, object});
    if (TheSettings().trace) {
        PrintEvent(all.events.back());
    }
    if (all.learning) {
        all.sharing[object].Note(self, all.current, op);
    }
}

bool Sleep(Op op, const void* object, int64_t deadline) {
    Schedule& all = The();
    if (!all.active) {
        Fail("a thread would sleep outside of a schedule");
    }
    Note(op, object);
    const auto self = static_cast<size_t>(all.current);
    all.threads[self].state = Thread::State::kBlocked;
    all.threads[self].deadline = deadline;
    all.threads[self].expired = false;
    Reschedule(false);
    return all.threads[self].expired;
}

void Wake(Thread* thread) {
    thread->state = Thread::State::kReady;
    thread->deadline = kNoDeadline;
}

bool SleepsOn(const Thread& thread, const void* object) {
    return thread.state == Thread::State::kBlocked && thread.object == object;
}

int StartThread(std::function<void()> body) {
    Schedule& all = The();
    const auto self = all.threads.size();
    all.threads.emplace_back();
    all.threads.back().fiber = std::make_unique<Fiber>(self, [self, run = std::move(body)] {
        run();
        Schedule& schedule = The();
        schedule.threads[self].fiber->EndThreadLocals();
        schedule.threads[self].state = Thread::State::kEnded;
        WakeAll(&schedule.threads[self].fiber);
        for (const Thread& thread : schedule.threads) {
            if (thread.state != Thread::State::kEnded) {
                Reschedule(false);
            }
        }
        Fiber::Switch(schedule.threads[self].fiber.get(), schedule.host);
    });
    return static_cast<int>(self);
}

}  // namespace

Settings& TheSettings() {
    static Settings settings;
    return settings;
}

void RunSchedule(Chooser* chooser, const std::function<void()>& body) {
    Schedule& all = The();
    Fiber host;
    all.chooser = chooser;
    all.host = &host;
    all.threads.clear();
    all.threads.reserve(64);  // a fiber's address names what its joiner waits for
    all.events.clear();
    all.deviations.clear();
    all.points = all.choices = 0;
    all.controlled = false;
    all.now += kBetween;
    all.active = true;
    all.current = StartThread(body);
    Fiber::Switch(&host, all.threads.front().fiber.get());
    all.active = false;
}

void Control(bool on) { The().controlled = on; }

void Point(Op op, const void* object) {
    Schedule& all = The();
    if (!all.active) {
        return;
    }
    Note(op, object);
    if (!all.controlled) {
        return;
    }
    if (all.chooser->Reduces()) {
        const auto found = all.sharing.find(object);
        if (found != all.sharing.end() && !found->second.Meets()) {
            return;
        }
    }
    Reschedule(true);
}

void NoteLock(const void* lock, bool taken) {
    Schedule& all = The();
    if (!all.active) {
        return;
    }
    std::vector<const void*>& locks = all.threads[static_cast<size_t>(all.current)].locks;
    const auto found = std::find(locks.begin(), locks.end(), lock);
    if (taken) {
        locks.push_back(lock);
    } else if (found != locks.end()) {
        locks.erase(found);
    }
}

void Block(Op op, const void* object) { (void)Sleep(op, object, kNoDeadline); }

bool BlockUntil(Op op, const void* object, int64_t deadline) { return Sleep(op, object, deadline); }

void WakeAll(const void* object) {
    for (Thread& thread : The().threads) {
        if (SleepsOn(thread, object)) {
            Wake(&thread);
        }
    }
}

void WakeOne(const void* object) {
    Schedule& all = The();
    all.options.clear();
    for (int i = 0; i < static_cast<int>(all.threads.size()); ++i) {
        if (SleepsOn(all.threads[static_cast<size_t>(i)], object)) {
            all.options.push_back({i, 0, false});
        }
    }
    if (!all.options.empty()) {
        Wake(&all.threads[static_cast<size_t>(all.options[Choose()].thread)]);
    }
}

int64_t Now() { return The().now += kLook; }

int Start(std::function<void()> body) {
    const int thread = StartThread(std::move(body));
    Point(Op::kStart, &The().threads[static_cast<size_t>(thread)].fiber);
    return thread;
}

void Join(int thread) {
    Thread& joined = The().threads[static_cast<size_t>(thread)];
    Point(Op::kJoin, &joined.fiber);
    while (joined.state != Thread::State::kEnded) {
        Block(Op::kJoin, &joined.fiber);
    }
}

int Self() { return The().current; }

void Expect(bool holds, const std::string& what) {
    if (!holds) {
        Fail(what);
    }
}

uint64_t ChoicesMade() { return The().choices; }

void LearnShared(bool learn) { The().learning = learn; }

}  // namespace schedules
