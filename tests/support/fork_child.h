// SPDX-License-Identifier: Apache-2.0
// What a child made by fork finds, as the exit code of the child.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_FORK_CHILD_H_
#define ADVANCE_STEP_TESTS_SUPPORT_FORK_CHILD_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fork.h"

namespace support {

// Forks, and returns what `body` returned in the child: 0 is good. A child that waits for ever is
// ended by a signal, and the result is negative.
template <typename Body>
int InForkedChild(const Body& body) {
    const pid_t child = Fork();
    if (child == 0) {
        alarm(30);
        EndChild(body());
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_FORK_CHILD_H_
