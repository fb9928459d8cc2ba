// SPDX-License-Identifier: Apache-2.0
// The threads of the process, as the kernel lists them.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_TASKS_H_
#define ADVANCE_STEP_TESTS_SUPPORT_TASKS_H_

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

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

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_TASKS_H_
