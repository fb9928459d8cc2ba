// SPDX-License-Identifier: Apache-2.0
// Records of what the child of a fork does not keep: descriptors, and shared pages at the parent's
// addresses.

#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "src/base/no_cancellation.h"

namespace advstep {

/// A range of shared pages, or a descriptor. Records are reused and never freed, and all of them
/// stay in one list, so that the child of a fork can walk it whatever the parent's threads were
/// doing.
struct ForkRecord;

/// Makes the child of a later fork see these pages copy-on-write, so that its writes do not reach
/// the parent.
ForkRecord* EnterForkRange(void* address, size_t bytes, int file, uint64_t offset);
/// Enters a range that PutInPlace makes valid. It may lie inside the range of another record, which
/// it overrides in the child.
ForkRecord* EnterUnusedForkRange(void* address, size_t bytes, int file, uint64_t offset);
/// Makes the record valid, and ends `old`, which may be null. The caller still forgets `old`.
void PutInPlace(ForkRecord* record, ForkRecord* old) noexcept;
/// Makes the child of a later fork close the descriptor.
ForkRecord* EnterForkDescriptor(int descriptor);
/// Forgets the record. The caller calls it before it unmaps the range or closes the descriptor.
/// Null is allowed.
void ForgetForkRecord(ForkRecord* record) noexcept;

/// Owns a descriptor, which the child of a fork does not keep. A fork after the record has been
/// given back, and before the descriptor is closed, leaves the child a copy. A socket is shut down
/// first, so that the copy is of no use.
class Descriptor {
 public:
    Descriptor() = default;
    /// A negative number is none.
    explicit Descriptor(int number) : number_(number) {
        try {
            record_ = number >= 0 ? EnterForkDescriptor(number) : nullptr;
        } catch (...) {
            const NoCancellation noCancellation;
            (void)close(number);
            throw;
        }
    }
    Descriptor(Descriptor&& other) noexcept
        : number_(std::exchange(other.number_, -1)),
          record_(std::exchange(other.record_, nullptr)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        std::swap(record_, other.record_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { Close(); }

    int Get() const { return number_; }
    bool Usable() const { return number_ >= 0; }
    void Close() noexcept {
        ForgetForkRecord(std::exchange(record_, nullptr));
        if (number_ >= 0) {
            const NoCancellation noCancellation;
            (void)shutdown(number_, SHUT_RDWR);  // fails for a file
            (void)close(std::exchange(number_, -1));
        }
    }

 private:
    int number_ = -1;
    ForkRecord* record_ = nullptr;
};

}  // namespace advstep
