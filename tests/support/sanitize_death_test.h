// SPDX-License-Identifier: Apache-2.0
// Tests of the sanitizer's findings, each in a process of its own.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_SANITIZE_DEATH_TEST_H_
#define ADVANCE_STEP_TESTS_SUPPORT_SANITIZE_DEATH_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "acl/acl.h"
#include "support/settings.h"

namespace support {

// A program in the child of a death test. Its process has no other thread than the program's, so
// there is no watchdog: Sanitized() ends a child that hangs.
struct SanitizeCase {
    std::string name;
    void (*run)();
    std::string says = {};  // a regular expression of the finding
    Settings settings = {};
};

class SanitizeDeathTest : public testing::TestWithParam<SanitizeCase> {
 protected:
    SanitizeDeathTest() {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        setenv("ASAN_OPTIONS", "detect_leaks=0", 0);  // a process that is stopped frees nothing
    }

    // In the child: a finding ends the process by SIGABRT.
    [[noreturn]] static void Run(const SanitizeCase& c, const char* checks) {
        constexpr unsigned kMostSeconds = 60;
        (void)alarm(kMostSeconds);
        setenv("ADVANCE_STEP_SANITIZE", checks, 1);
        setenv("ADVANCE_STEP_SANITIZE_ACTION", "stop", 1);
        for (const auto& [name, value] : c.settings) {
            setenv(name.c_str(), value.c_str(), 1);
        }
        c.run();
        std::exit(0);
    }
    static void ExpectFinding(const SanitizeCase& c, const char* checks) {
        EXPECT_EXIT(Run(c, checks), testing::KilledBySignal(SIGABRT), c.says);
    }
    static void ExpectNone(const SanitizeCase& c, const char* checks) {
        EXPECT_EXIT(Run(c, checks), testing::ExitedWithCode(0), testing::IsEmpty());
    }

 private:
    EnvironmentGuard environment_{Settings{}};
};

// For the programs of the children.
inline void Must(int code) {
    if (code != 0) {
        const char* const message = aclGetRecentErrMsg();
        std::fprintf(stderr, "a call returned %d: %s\n", code, message != nullptr ? message : "");
        std::_Exit(41);
    }
}
inline aclrtStream NewStream() {
    aclrtStream stream = nullptr;
    Must(aclrtCreateStream(&stream));
    return stream;
}
inline aclrtNotify NewNotify() {
    aclrtNotify notify = nullptr;
    Must(aclrtCreateNotify(&notify, 0));
    return notify;
}
inline aclrtEvent NewEvent() {
    aclrtEvent event = nullptr;
    Must(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    return event;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_SANITIZE_DEATH_TEST_H_
