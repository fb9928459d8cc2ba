// SPDX-License-Identifier: Apache-2.0
// The path of a file that a death test and its child have in common.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_DEATH_TEST_FILE_H_
#define ADVANCE_STEP_TESTS_SUPPORT_DEATH_TEST_FILE_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace support {

// The child begins the test anew in a process of its own, and has the path from the environment.
// Other runs of the test have other files.
inline std::string DeathTestFile() {
    constexpr char kVariable[] = "FILE_OF_DEATH_TEST";
    const std::string own = testing::TempDir() + "death_test_" + std::to_string(getpid());
    (void)setenv(kVariable, own.c_str(), 0);
    return getenv(kVariable);
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_DEATH_TEST_FILE_H_
