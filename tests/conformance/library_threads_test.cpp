// SPDX-License-Identifier: Apache-2.0
// The library's threads leave the program's signals, CPUs and debugger views alone.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/sanitizers.h"
#include "support/tasks.h"

namespace {

using support::IsOk;

// The entries of a thread's /proc status: "Name", "SigBlk", "Cpus_allowed_list" and others. None of
// a thread that is gone.
std::map<std::string, std::string> StatusOf(const std::string& task) {
    std::map<std::string, std::string> entries;
    std::ifstream file(task + "/status");
    for (std::string line; std::getline(file, line);) {
        const size_t colon = line.find(':');
        const size_t begin = line.find_first_not_of(" \t", colon + 1);
        if (colon != std::string::npos && begin != std::string::npos) {
            entries[line.substr(0, colon)] = line.substr(begin);
        }
    }
    return entries;
}

bool Blocks(const std::map<std::string, std::string>& status, int signal) {
    const uint64_t mask = std::strtoull(status.at("SigBlk").c_str(), nullptr, 16);
    return (mask >> (signal - 1) & 1) != 0;
}

// Work for the threads of streams and of cores.
void Work() {
    const support::Stream stream = support::MakeStream();
    const support::Recorder recorder;
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 0)));
    ASSERT_TRUE(recorder.WaitFor(1));
    support::AdvanceStepBatch batch(support::MakeBatch(40000, 30000, 4, 5, 7));
    ASSERT_TRUE(IsOk(batch.Run(stream.Get())));
}

class LibraryThreadsTest : public support::EndedRuntimeTest {
 protected:
    // Runs the work in a thread with these CPUs and an open signal mask, and fills in the threads
    // that the library has started for it.
    void WorkIn(const cpu_set_t& cpus) {
        const std::set<std::string> before = support::Tasks();
        std::thread([&] {
            ASSERT_EQ(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
            ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
            ASSERT_NO_FATAL_FAILURE(Work());
        }).join();
        for (const std::string& task : support::TasksSince(before)) {
            if (HasBegun(task)) {
                tasks_.insert(task);
            }
        }
        ASSERT_GE(tasks_.size(), 4U) << "of streams and of cores";
    }

    // Waits until a thread of the library has begun. False for the thread of the work: it has been
    // joined, but the kernel may list it for a moment longer.
    static bool HasBegun(const std::string& task) {
        // Until it begins, it has its starter's name, and the C library blocks all its signals. The
        // watchdog ends the test if that lasts.
        for (auto status = StatusOf(task); !status.empty(); status = StatusOf(task)) {
            if (status["Name"].rfind("advstep", 0) == 0 && !Blocks(status, SIGSEGV)) {
                return true;
            }
            std::this_thread::yield();
        }
        return false;
    }

    std::set<std::string> tasks_;

 private:
    support::SettingsGuard settings_{support::Settings{{"ADVANCE_STEP_THREADS", "4"}}};
};

TEST_F(LibraryThreadsTest, HaveNames) {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    ASSERT_NO_FATAL_FAILURE(WorkIn(all));
    std::map<std::string, int> names;
    // A core's thread has the name of a stream's that started it, until it begins.
    do {
        names.clear();
        for (const std::string& task : tasks_) {
            ++names[StatusOf(task)["Name"]];
        }
    } while (names["advstep-core"] < 3);  // or the watchdog ends the test
    EXPECT_EQ(names["advstep-core"], 3);
    EXPECT_EQ(names["advstep-core"] + names["advstep-stream"], static_cast<int>(tasks_.size()));
}

TEST_F(LibraryThreadsTest, LeaveSignalsToTheProgram) {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    ASSERT_NO_FATAL_FAILURE(WorkIn(all));
    const std::set<int> open = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF};
    for (const std::string& task : tasks_) {
        const std::map<std::string, std::string> status = StatusOf(task);
        for (int signal = 1; signal <= SIGRTMAX; ++signal) {
            if (signal == SIGKILL || signal == SIGSTOP || (signal > SIGSYS && signal < SIGRTMIN)) {
                continue;  // cannot be blocked, or belong to the C library
            }
            EXPECT_EQ(Blocks(status, signal), open.count(signal) == 0)
                << status.at("Name") << ", signal " << signal;
        }
    }
}

// A program that blocks a signal in all its threads and takes it with sigwait. The signal's default
// action ends the process if any thread lets it through.
class SigwaitTest : public LibraryThreadsTest {
 protected:
    // Before the fixture starts its watchdog.
    static void SetUpTestSuite() { SetBlocked(true); }
    static void TearDownTestSuite() { SetBlocked(false); }

    static void SetBlocked(bool blocked) {
        ASSERT_EQ(pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &Usr2(), nullptr), 0);
    }
    static const sigset_t& Usr2() {
        static const sigset_t set = [] {
            sigset_t one;
            sigemptyset(&one);
            sigaddset(&one, SIGUSR2);
            return one;
        }();
        return set;
    }
};

TEST_F(SigwaitTest, GetsTheSignal) {
    if (support::kThreadSanitizer) {
        GTEST_SKIP() << "the sanitizer's own thread would take the signal";
    }
    std::thread([] {
        SetBlocked(false);  // the creator of the library's threads does not block it
        ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
        ASSERT_NO_FATAL_FAILURE(Work());
    }).join();
    ASSERT_EQ(kill(getpid(), SIGUSR2), 0);
    int signal = 0;
    ASSERT_EQ(sigwait(&Usr2(), &signal), 0);
    EXPECT_EQ(signal, SIGUSR2);
}

TEST_F(LibraryThreadsTest, TheCallersMaskIsItsOwn) {
    sigset_t before, after;
    ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    ASSERT_NO_FATAL_FAILURE(Work());
    ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &after), 0);
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
        EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
    }
}

TEST_F(LibraryThreadsTest, UseTheCpusOfTheProcess) {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    if (CPU_COUNT(&all) < 2) {
        GTEST_SKIP() << "a process with one CPU";
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &one);
        }
    }
    ASSERT_NO_FATAL_FAILURE(WorkIn(one));
    const std::string expected = StatusOf("/proc/thread-self")["Cpus_allowed_list"];
    for (const std::string& task : tasks_) {
        while (StatusOf(task)["Cpus_allowed_list"] != expected) {
            std::this_thread::yield();  // its name comes first
        }
    }
}

}  // namespace
