// SPDX-License-Identifier: Apache-2.0
// A fork that a program with the address sanitizer lives through.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_FORK_H_
#define ADVANCE_STEP_TESTS_SUPPORT_FORK_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/host_work.h"
#include "support/sanitizers.h"

namespace support {

// Whether every other thread of the process waits for something.
inline bool OthersSleep() {
    const std::string self = std::to_string(syscall(SYS_gettid));
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        if (task.path().filename() == self) {
            continue;
        }
        std::ifstream file(task.path() / "stat");
        std::string stat;
        std::getline(file, stat);
        const size_t name = stat.rfind(") ");  // the state follows the name of the thread
        if (name != std::string::npos && stat.compare(name + 2, 1, "S") != 0) {
            return false;
        }
    }
    return true;
}

// Before a fork(): a thread that the parent has just started may hold a lock of the address
// sanitizer's allocator, which stays locked in the child, so with it the other threads sleep first.
inline void LetOthersSleep() {
    if (kAddressSanitizer) {
        EXPECT_TRUE(Eventually(OthersSleep));
    }
}

inline pid_t Fork() {
    LetOthersSleep();
    return fork();
}

// Ends the child of a fork, or a handler of a signal, without anything that exit() does. Only the
// counts of coverage need that.
[[noreturn]] inline void EndChild(int code) {
#ifdef ADVANCE_STEP_COUNTS_COVERAGE
    std::exit(code);
#else
    _exit(code);
#endif
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_FORK_H_
