// SPDX-License-Identifier: Apache-2.0
// Looks for calls that do not return, and prints what all threads do.
#include "chaos/watch.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

extern "C" void __sanitizer_print_stack_trace() __attribute__((weak));

namespace chaos {
namespace {

std::mutex journalsMutex;
std::vector<const Journal*> journals;  // under the mutex

void PrintStack(int) {
    if (__sanitizer_print_stack_trace != nullptr) {
        __sanitizer_print_stack_trace();
    }
}

// The stacks of all threads of the process, one after another.
void PrintStacks() {
    if (__sanitizer_print_stack_trace == nullptr) {
        return;
    }
    struct sigaction action = {};
    action.sa_handler = PrintStack;
    (void)sigaction(SIGUSR2, &action, nullptr);
    DIR* const tasks = opendir("/proc/self/task");
    const auto self = static_cast<pid_t>(syscall(SYS_gettid));
    for (const dirent* entry = tasks == nullptr ? nullptr : readdir(tasks); entry != nullptr;
         entry = readdir(tasks)) {
        const auto thread = static_cast<pid_t>(std::atoi(entry->d_name));
        if (thread > 0 && thread != self) {
            std::fprintf(stderr, "stack of thread %d:\n", thread);
            (void)syscall(SYS_tgkill, getpid(), thread, SIGUSR2);
            std::this_thread::sleep_for(std::chrono::seconds(1));  // for the thread to print
        }
    }
    if (tasks != nullptr) {
        closedir(tasks);
    }
}

bool SomeCallRunsFor(std::chrono::seconds limit) {
    const std::lock_guard<std::mutex> lock(journalsMutex);
    return std::any_of(journals.begin(), journals.end(),
                       [limit](const Journal* journal) { return journal->InCall() > limit; });
}

}  // namespace

void Watch(const Journal* journal) {
    const std::lock_guard<std::mutex> lock(journalsMutex);
    journals.push_back(journal);
}

void Unwatch(const Journal* journal) {
    const std::lock_guard<std::mutex> lock(journalsMutex);
    journals.erase(std::remove(journals.begin(), journals.end(), journal), journals.end());
}

void PrintJournals() {
    const std::lock_guard<std::mutex> lock(journalsMutex);
    for (const Journal* journal : journals) {
        journal->Print();
    }
}

void PrintRepetition(const World& world) {
    std::fprintf(stderr,
                 "repeat: chaos --seed %" PRIu64 " --first-life %" PRIu64
                 " --threads %d --rows %" PRId64 "\n",
                 world.seed, world.life, world.threads, world.mostRows);
}

Watchdog::Watchdog(const World* world, std::chrono::seconds limit)
    : thread_([this, world, limit] {
          while (!over_) {
              std::this_thread::sleep_for(std::chrono::milliseconds(50));
              if (SomeCallRunsFor(limit)) {
                  std::fprintf(stderr, "chaos: a call has run for more than %" PRId64 " s\n",
                               static_cast<int64_t>(limit.count()));
                  PrintRepetition(*world);
                  PrintJournals();
                  PrintStacks();
                  std::abort();
              }
          }
      }) {}

Watchdog::~Watchdog() {
    over_ = true;
    thread_.join();
}

}  // namespace chaos
