// SPDX-License-Identifier: Apache-2.0
// A file in memory, whose pages a pool divides into ranges.

#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/base/no_cancellation.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/fork_ranges.h"

namespace advstep {

/// A file in memory. Its first range begins at offset 0.
struct PageFile {
    int descriptor = -1;
    size_t bytes = 0;
    uint8_t* base = nullptr;  // null: not mapped
    // Whether the host was asked for a large page, by page; of a mapped file. Any thread sets them,
    // and the pool clears those of a range that it frees of its pages.
    std::unique_ptr<std::atomic<bool>[]> asked;
    ForkRecord* forkRange = nullptr;
    ForkRecord* forkDescriptor = nullptr;

    ~PageFile() {
        LeaveFork(forkRange);
        LeaveFork(forkDescriptor);
        if (base != nullptr) {
            ReleaseAddresses(base, bytes);
        }
        if (descriptor >= 0) {
            const NoCancellation noCancellation;
            (void)close(descriptor);
        }
    }
};

/// Sets the size of a file. errno has the cause of a failure. A limit of the size of files
/// (RLIMIT_FSIZE) holds for files in memory too. The call fails at the limit and suppresses its
/// signal, which would end the program.
bool SetFileSize(int descriptor, size_t bytes);

}  // namespace advstep
