// SPDX-License-Identifier: Apache-2.0
// The watchdog over the calls of all threads.
#ifndef ADVANCE_STEP_TESTS_CHAOS_WATCH_H_
#define ADVANCE_STEP_TESTS_CHAOS_WATCH_H_

#include <atomic>
#include <chrono>
#include <thread>

#include "chaos/journal.h"
#include "chaos/world.h"

namespace chaos {

// The journals that the watchdog looks at.
void Watch(const Journal* journal);
void Unwatch(const Journal* journal);

void PrintJournals();
void PrintRepetition(const World& world);

// While it lives, a call that takes longer than the limit ends the process with the journals and,
// under a sanitizer, the stacks of all threads.
class Watchdog {
 public:
    Watchdog(const World* world, std::chrono::seconds limit);
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    ~Watchdog();

 private:
    std::atomic<bool> over_{false};
    std::thread thread_;
};

}  // namespace chaos

#endif  // ADVANCE_STEP_TESTS_CHAOS_WATCH_H_
