// SPDX-License-Identifier: Apache-2.0
// What each thread does now, what it did last, and how often each call returned which code.
#ifndef ADVANCE_STEP_TESTS_CHAOS_JOURNAL_H_
#define ADVANCE_STEP_TESTS_CHAOS_JOURNAL_H_

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace chaos {

using CallCounts = std::map<std::string, std::map<int, uint64_t>>;

// Written by one thread. Others may read everything but the counts at any time: the fields are
// atomic, and names are literals.
class Journal {
 public:
    explicit Journal(int thread);

    void BeginAction(const char* action, uint64_t seed);
    void Begin(const char* call);
    void End(int code);

    // For how long the present call has run; 0 without one.
    std::chrono::milliseconds InCall() const;
    pid_t ThreadId() const { return threadId_; }
    // On standard error, the oldest first.
    void Print() const;
    const CallCounts& Counts() const { return counts_; }
    // Of all actions and their seeds: two runs of one thread with the same seed have the same.
    uint64_t Digest() const { return digest_; }

 private:
    static constexpr size_t kKept = 24;
    struct Entry {
        std::atomic<const char*> call{nullptr};
        std::atomic<int> code{0};
    };

    const int thread_;
    const pid_t threadId_;
    uint64_t digest_ = 0;
    CallCounts counts_;
    std::array<Entry, kKept> entries_;
    std::atomic<uint64_t> done_{0};
    std::atomic<const char*> action_{""};
    std::atomic<uint64_t> actionSeed_{0};
    std::atomic<const char*> call_{nullptr};
    std::atomic<int64_t> since_{0};  // milliseconds of the steady clock
};

// Prints a table of all calls: how often, and the codes of those that failed.
void PrintTable(const CallCounts& counts);

}  // namespace chaos

#endif  // ADVANCE_STEP_TESTS_CHAOS_JOURNAL_H_
