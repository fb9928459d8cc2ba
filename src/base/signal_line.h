// SPDX-License-Identifier: Apache-2.0
// A line for standard error that a signal handler may write.

#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace advstep {

/// A line for standard error. It allocates no memory and takes no lock, because a signal handler
/// may do neither. Longer text is cut.
class SignalLine {
 public:
    SignalLine& operator<<(const char* text) {
        while (*text != '\0' && size_ < kMost) {
            bytes_[size_++] = *text++;
        }
        return *this;
    }
    SignalLine& Number(uint64_t value, unsigned base = 10) {
        char digits[20];
        size_t count = 0;
        do {
            digits[count++] = "0123456789abcdef"[value % base];
            value /= base;
        } while (value != 0);
        while (count > 0 && size_ < kMost) {
            bytes_[size_++] = digits[--count];
        }
        return *this;
    }
    SignalLine& Address(uintptr_t value) { return (*this << "0x").Number(value, 16); }
    SignalLine& Offset(int64_t value) {
        return value < 0 ? (*this << "-").Number(uint64_t{0} - static_cast<uint64_t>(value))
                         : Number(static_cast<uint64_t>(value));
    }
    /// Ends the line and writes it.
    void Write() {
        bytes_[size_++] = '\n';
        const char* at = bytes_;
        while (size_ > 0) {
            const ssize_t written = write(STDERR_FILENO, at, size_);
            if (written < 0) {
                return;
            }
            at += written;
            size_ -= static_cast<size_t>(written);
        }
    }

 private:
    static constexpr size_t kMost = 511;  // characters before the end of the line

    char bytes_[kMost + 1];
    size_t size_ = 0;
};

}  // namespace advstep
