// SPDX-License-Identifier: Apache-2.0
// The handlers of crash signals, which describe the crash on standard error and pass the signal on.

#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace advstep {

/// Describes a crash on standard error, if it is of the kind that this function knows. It runs in a
/// signal handler.
using DescribeCrash = void (*)(int signal, const siginfo_t& info, const void* context);

/// Installs handlers of the signals, once per process, which call `describe`. Then they call the
/// handler that was installed before, or take the default action. So programs, debuggers, core
/// dumps and sanitizers work as without these handlers. The signals are among SIGSEGV, SIGBUS,
/// SIGFPE, SIGILL and SIGABRT. At most three functions describe a signal.
void DescribeCrashes(std::initializer_list<int> signals, DescribeCrash describe);

/// Returns whether an instruction, abort or raise of this process caused the signal. One of another
/// process meets what the thread does by chance.
bool RaisedByProcess(const siginfo_t& info);

/// Decides whether the instruction that raised a SIGSEGV may run again, because what it wanted is
/// possible now. It may wait before. It runs in a signal handler.
using SettleFault = bool (*)(const siginfo_t& info, const void* context);

/// Asks `settle` first for each SIGSEGV from now on, and lets the instruction run again if it says
/// so. Otherwise the signal is a crash. There are at most two such functions in the library.
/// Returns whether the library's handler is in place: a program may have installed its own after
/// it.
bool SettleFaults(SettleFault settle);

/// Gives the thread an alternate signal stack for the rest of its life, if it has none. A handler
/// needs it when the thread's own stack is full.
void EnsureAlternateStack();

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
    /// " crashes by SIGSEGV at 0x10", without the address if no instruction caused the signal.
    SignalLine& Crash(int signal, const siginfo_t& info);
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
