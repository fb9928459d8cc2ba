// SPDX-License-Identifier: Apache-2.0
// Reads /proc about threads, and the words at which they wait.

#include "src/base/thread_state.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace advstep {
namespace {

constexpr int kNormalMutexKinds = 3;  // normal, recursive, error checking, adaptive
constexpr int kMutexKindBits = 0x7F;

// The system call in which a thread is. Returns false if it is in none, or if it is not known.
bool ReadCall(pid_t thread, long* number, std::array<uint64_t, 4>* arguments) {
    char path[64];
    (void)std::snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", thread);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    char text[256] = {};
    const ssize_t size = read(file, text, sizeof(text) - 1);
    (void)close(file);
    if (size <= 0) {
        return false;
    }
    unsigned long long read[4] = {};
    // NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers
    if (std::sscanf(text, "%ld 0x%llx 0x%llx 0x%llx 0x%llx", number, &read[0], &read[1], &read[2],
                    &read[3]) != 5) {
        return false;
    }
    for (size_t i = 0; i < arguments->size(); ++i) {
        (*arguments)[i] = read[i];
    }
    return true;
}

// Reads words of this process, which may be unmapped meanwhile.
template <size_t kCount>
bool ReadWords(uint64_t address, int32_t (&words)[kCount]) {
    iovec here{words, sizeof(words)};
    iovec there{reinterpret_cast<void*>(address), sizeof(words)};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) ==
           static_cast<ssize_t>(sizeof(words));
}

}  // namespace

std::vector<pid_t> ThreadsOfProcess() {
    std::vector<pid_t> threads;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/task"), &closedir);
    if (folder == nullptr) {
        return threads;
    }
    while (const dirent* const entry = readdir(folder.get())) {
        const pid_t thread = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
        if (thread > 0) {
            threads.push_back(thread);
        }
    }
    return threads;
}

ThreadBlock BlockOf(pid_t thread) {
    ThreadBlock block;
    long number = 0;
    std::array<uint64_t, 4> arguments{};
    if (!ReadCall(thread, &number, &arguments) || number != SYS_futex) {
        return block;
    }
    const auto command = static_cast<int>(arguments[1]) & FUTEX_CMD_MASK;
    const bool forever = arguments[3] == 0;
    if ((command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) || !forever) {
        return block;
    }
    block.kind = ThreadBlock::Kind::kOther;
    const auto expected = static_cast<int32_t>(arguments[2]);
    // A mutex of the C library: its lock, count, owner, users and kind. 2: locked with waiters.
    int32_t words[5] = {};
    if (expected == 2 && ReadWords(arguments[0], words) && words[0] == 2 && words[2] > 0 &&
        words[3] > 0 && (words[4] & kMutexKindBits) <= kNormalMutexKinds) {
        block = {ThreadBlock::Kind::kMutex, words[2], arguments[0]};
    }
    // A thread's number in its own descriptor, which the kernel clears when the thread has ended.
    int32_t word[1] = {};
    if (expected > 2 && ReadWords(arguments[0], word) && word[0] == expected) {
        block = {ThreadBlock::Kind::kJoin, expected, arguments[0]};
    }
    return block;
}

}  // namespace advstep
