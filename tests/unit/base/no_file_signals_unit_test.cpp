// SPDX-License-Identifier: Apache-2.0
// Tests of the scope in which failed writes send no signals.

#include "src/base/no_file_signals.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

namespace advstep {
namespace {

class NoFileSignalsUnitTest : public testing::TestWithParam<int> {
 protected:
    static bool IsPending() {
        sigset_t pending;
        (void)sigpending(&pending);
        return sigismember(&pending, GetParam()) == 1;
    }
    static bool IsBlocked() {
        sigset_t mask;
        (void)pthread_sigmask(SIG_BLOCK, nullptr, &mask);
        return sigismember(&mask, GetParam()) == 1;
    }
};

// The signal has its default action: it would end this program.
TEST_P(NoFileSignalsUnitTest, DropsASignalOfTheScope) {
    ASSERT_FALSE(IsBlocked());
    {
        const NoFileSignals scope;
        EXPECT_TRUE(IsBlocked());
        pthread_kill(pthread_self(), GetParam());
        EXPECT_TRUE(IsPending());
        errno = EFBIG;
    }
    EXPECT_EQ(errno, EFBIG);
    EXPECT_FALSE(IsBlocked());
}

TEST_P(NoFileSignalsUnitTest, LeavesASignalThatWasPending) {
    sigset_t own;
    (void)sigemptyset(&own);
    (void)sigaddset(&own, GetParam());
    (void)pthread_sigmask(SIG_BLOCK, &own, nullptr);
    pthread_kill(pthread_self(), GetParam());
    { const NoFileSignals scope; }
    EXPECT_TRUE(IsBlocked());
    EXPECT_TRUE(IsPending());
    int taken = 0;
    EXPECT_EQ(sigwait(&own, &taken), 0);
    (void)pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Table, NoFileSignalsUnitTest, testing::Values(SIGXFSZ, SIGPIPE),
                         [](const auto& row) {
                             return row.param == SIGXFSZ ? "FileSize" : "Pipe";
                         });

}  // namespace
}  // namespace advstep
