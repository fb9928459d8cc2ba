// SPDX-License-Identifier: Apache-2.0
// A file in memory, whose pages a pool parts.

#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "src/base/no_cancellation.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/fork_ranges.h"

namespace advstep {

/// A file in memory. The first of its ranges is that at offset 0.
struct PageFile {
    int descriptor = -1;
    size_t bytes = 0;
    uint8_t* base = nullptr;  // null: not mapped
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

/// Sets the size of a file. errno says why it fails. A limit of the size of files (RLIMIT_FSIZE)
/// holds for files in memory too, and its signal would end the program: the limit fails the call.
bool SetFileSize(int descriptor, size_t bytes);

}  // namespace advstep
