// SPDX-License-Identifier: Apache-2.0
// Static objects and fork: new ones in the child, also while a thread of the parent constructs one.
#include "src/base/never_destroyed.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "support/host_work.h"

namespace advstep {
namespace {

// The exit status of a child that runs body(); negative if a signal ended it.
template <typename Body>
int StatusOfChild(Body&& body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);  // ends a child that hangs
        _exit(body());
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct Number {
    int value = 1;
};

Number& TheNumber() {
    static NeverDestroyed<Number> number;
    return *number;
}

TEST(NeverDestroyedTest, AChildHasANewObject) {
    TheNumber().value = 2;
    const Number* const parents = &TheNumber();
    EXPECT_EQ(StatusOfChild([&] {
                  const bool isNew = &TheNumber() != parents && TheNumber().value == 1;
                  TheNumber().value = 3;
                  const int grandchild = StatusOfChild([] { return TheNumber().value; });
                  return isNew ? grandchild : 99;
              }),
              1);
    EXPECT_EQ(&TheNumber(), parents);
    EXPECT_EQ(TheNumber().value, 2);
}

// Its constructor waits in one process until it is let go.
struct SlowToMake {
    SlowToMake() {
        if (getpid() == slowProcess) {
            entered.Set();
            EXPECT_TRUE(go.Wait());
        }
        value = 7;
    }
    int value = 0;

    static inline pid_t slowProcess = 0;
    static inline const support::Signal entered;
    static inline const support::Signal go;
};

SlowToMake& TheSlowOne() {
    static NeverDestroyed<SlowToMake> slow;
    return *slow;
}

TEST(NeverDestroyedTest, AForkDuringTheConstruction) {
    SlowToMake::slowProcess = getpid();
    std::thread maker([] { EXPECT_EQ(TheSlowOne().value, 7); });
    EXPECT_TRUE(SlowToMake::entered.Wait());
    EXPECT_EQ(StatusOfChild([] {
                  // The child's child: the object of the child is replaced as well.
                  const bool made = TheSlowOne().value == 7;
                  TheSlowOne().value = 8;
                  return made ? StatusOfChild([] { return TheSlowOne().value; }) : 99;
              }),
              7);
    EXPECT_EQ(StatusOfChild([] { return TheNumber().value; }), 1) << "another object";
    SlowToMake::go.Set();
    maker.join();
    EXPECT_EQ(TheSlowOne().value, 7);
}

struct CountsItself {
    CountsItself() { ++made; }
    static inline std::atomic<int> made{0};
};

TEST(NeverDestroyedTest, ThreadsMakeOneObject) {
    static NeverDestroyed<CountsItself> object;
    std::atomic<bool> begin{false};
    std::thread threads[4];
    for (std::thread& thread : threads) {
        thread = std::thread([&] {
            while (!begin) {
            }
            (void)*object;
        });
    }
    begin = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(CountsItself::made, 1);
}

}  // namespace
}  // namespace advstep
