// SPDX-License-Identifier: Apache-2.0
// Keeps the last calls of a thread, and prints them and the table.
#include "chaos/journal.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "chaos/codes.h"

namespace chaos {
namespace {

int64_t NowInMilliseconds() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

Journal::Journal(int thread)
    : thread_(thread), threadId_(static_cast<pid_t>(syscall(SYS_gettid))) {}

void Journal::BeginAction(const char* action, uint64_t seed) {
    action_ = action;
    actionSeed_ = seed;
    for (const char* letter = action; *letter != 0; ++letter) {
        digest_ = (digest_ ^ static_cast<unsigned char>(*letter)) * 0x100000001b3;
    }
    digest_ = (digest_ ^ seed) * 0x100000001b3;
}

void Journal::Begin(const char* call) {
    since_ = NowInMilliseconds();
    call_ = call;
}

void Journal::End(int code) {
    const char* const call = call_.exchange(nullptr);
    Entry& entry = entries_[done_ % kKept];
    entry.call = call;
    entry.code = code;
    done_ += 1;
    ++counts_[call][code];
}

std::chrono::milliseconds Journal::InCall() const {
    const int64_t since = since_;
    return std::chrono::milliseconds(call_ == nullptr ? 0 : NowInMilliseconds() - since);
}

void Journal::Print() const {
    std::fprintf(stderr,
                 "thread %d (%d), %" PRIu64 " calls done, action %s with seed %" PRIu64 ":\n",
                 thread_, threadId_, done_.load(), action_.load(), actionSeed_.load());
    const uint64_t done = done_;
    for (uint64_t at = done - std::min<uint64_t>(done, kKept); at < done; ++at) {
        const Entry& entry = entries_[at % kKept];
        const char* const call = entry.call;
        std::fprintf(stderr, "    %s: %d\n", call == nullptr ? "?" : call, entry.code.load());
    }
    const char* const now = call_;
    if (now != nullptr) {
        std::fprintf(stderr, "    now for %" PRId64 " ms: %s\n",
                     static_cast<int64_t>(InCall().count()), now);
    }
}

void PrintTable(const CallCounts& counts) {
    std::printf("%-44s %10s %10s  %s\n", "call", "count", "failed", "by code");
    uint64_t all = 0;
    uint64_t allFailed = 0;
    for (const auto& [call, codes] : counts) {
        uint64_t count = 0;
        uint64_t failed = 0;
        std::string text;
        for (const auto& [code, times] : codes) {
            count += times;
            if (code != 0) {
                failed += times;
                text += (text.empty() ? "" : ", ") + std::to_string(code) + " x " +
                        std::to_string(times);
            }
        }
        all += count;
        allFailed += failed;
        std::printf("%-44s %10" PRIu64 " %10" PRIu64 "  %s\n", call.c_str(), count, failed,
                    text.c_str());
    }
    std::printf("%-44s %10" PRIu64 " %10" PRIu64 "\n", "all", all, allFailed);
}

}  // namespace chaos
