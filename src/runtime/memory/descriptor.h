// SPDX-License-Identifier: Apache-2.0
// An owned descriptor, which the child of a fork does not keep.

#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "src/base/no_cancellation.h"
#include "src/runtime/memory/fork_ranges.h"

namespace advstep {

/// Owns a descriptor. A fork after the record has been given back, and before the descriptor is
/// closed, leaves the child a copy. A socket is shut down first, so that the copy is of no use.
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
        LeaveFork(std::exchange(record_, nullptr));
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
