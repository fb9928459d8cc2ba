// SPDX-License-Identifier: Apache-2.0
// Descriptors of a program that has closed its standard streams.

#include "src/base/high_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "src/base/open_file.h"
#include "support/fork.h"

namespace advstep {
namespace {

// Returns the code of a child that has closed these of its standard streams and ends with check().
template <typename Check>
int RunWithout(std::initializer_list<int> closed, const Check& check) {
    const pid_t child = support::Fork();
    if (child == 0) {
        for (const int number : closed) {
            (void)close(number);
        }
        support::EndChild(check() ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

bool IsOpen(int number) { return fcntl(number, F_GETFD) != -1; }

TEST(HighDescriptor, IsAboveTheStandardStreamsWhicheverAreClosed) {
    const auto open = [] {
        const int event = OpenHigh([] { return eventfd(0, EFD_CLOEXEC); });
        const int file = OpenFile("/dev/null", O_RDONLY);
        return event > STDERR_FILENO && file > STDERR_FILENO && IsOpen(event) && IsOpen(file);
    };
    EXPECT_EQ(RunWithout({}, open), 0);
    EXPECT_EQ(RunWithout({2}, [&] { return open() && !IsOpen(2) && IsOpen(1) && IsOpen(0); }), 0);
    EXPECT_EQ(RunWithout({0, 2}, [&] { return open() && !IsOpen(2) && IsOpen(1) && !IsOpen(0); }),
              0);
    EXPECT_EQ(
        RunWithout({0, 1, 2}, [&] { return open() && !IsOpen(2) && !IsOpen(1) && !IsOpen(0); }), 0);
}

TEST(HighDescriptor, KeepsTheErrorOfTheCall) {
    EXPECT_EQ(RunWithout({2},
                         [] {
                             const int file = OpenFile("/no/such/file", O_RDONLY);
                             return file == -1 && errno == ENOENT;
                         }),
              0);
}

// A thread of the program closed a number after the library had looked.
TEST(HighDescriptor, IsRaised) {
    EXPECT_EQ(RunWithout({2},
                         [] {
                             const int low = eventfd(0, EFD_CLOEXEC);
                             const int raised = StandardNumbersTaken::Raise(low);
                             return low == 2 && raised > 2 && IsOpen(raised) && !IsOpen(2);
                         }),
              0);
    errno = 5;
    EXPECT_EQ(StandardNumbersTaken::Raise(-1), -1);
    EXPECT_EQ(errno, 5);
}

}  // namespace
}  // namespace advstep
