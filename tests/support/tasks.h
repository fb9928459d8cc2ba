// SPDX-License-Identifier: Apache-2.0
// The threads of the process, as the kernel lists them.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_TASKS_H_
#define ADVANCE_STEP_TESTS_SUPPORT_TASKS_H_

#include <sys/syscall.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "support/host_work.h"

namespace support {

// The /proc directories of the threads. A thread that has been joined may be among them for a
// moment longer, so numbers of threads are not compared.
inline std::set<std::string> Tasks() {
    std::set<std::string> tasks;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
        tasks.insert(entry.path());
    }
    return tasks;
}

// Those that were not there before.
inline std::set<std::string> TasksSince(const std::set<std::string>& before) {
    const std::set<std::string> now = Tasks();
    std::set<std::string> since;
    std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                        std::inserter(since, since.end()));
    return since;
}

// What the thread is doing, as the kernel tells: the number of a system call and its arguments, or
// a word. Empty where the kernel does not tell.
inline std::string DoingOf(const std::string& thread) {
    std::ifstream file(thread + "/syscall");
    std::string text;
    std::getline(file, text);
    return text;
}

// Whether a thread that does this waits on a lock or a condition without a time limit.
inline bool SleepsForGood(const std::string& doing) {
    std::istringstream words(doing);
    long number = -1;
    std::string address, operation, value, limit;
    words >> number >> address >> operation >> value >> limit;
    return number == SYS_futex && limit == "0x0";
}

// Whether the thread is the sanitizer's, which looks for deadlocks again and again.
inline bool WatchesOthers(const std::string& thread) {
    std::ifstream file(thread + "/comm");
    std::string name;
    std::getline(file, name);
    return name == "advstep-watch";
}

// Whether all threads that were not there before come to sleep until they are called, but for so
// many that stand at a gate.
inline bool ComeToSleep(const std::set<std::string>& before, size_t atGates = 0) {
    return Eventually([&] {
        size_t awake = 0;
        for (const std::string& thread : TasksSince(before)) {
            awake += SleepsForGood(DoingOf(thread)) || WatchesOthers(thread) ? 0 : 1;
        }
        return awake <= atGates;
    });
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_TASKS_H_
