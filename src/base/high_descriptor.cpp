// SPDX-License-Identifier: Apache-2.0
// Occupies the closed ones of the numbers 0 to 2.

#include "src/base/high_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"

namespace advstep {
namespace {

constexpr int kFirstHigh = STDERR_FILENO + 1;

std::mutex& TheMutex() {
    static NeverDestroyed<std::mutex> mutex;
    return *mutex;
}

}  // namespace

StandardNumbersTaken::StandardNumbersTaken() noexcept : lock_(TheMutex()) {
    const NoCancellation noCancellation;
    const int before = errno;
    for (int number = 0; number < kFirstHigh; ++number) {
        if (fcntl(number, F_GETFD) != -1) {
            continue;
        }
        const int got = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (got >= 0 && got < kFirstHigh) {
            taken_[got] = true;
        } else if (got >= 0) {
            (void)close(got);  // another thread has opened the number
        }
    }
    errno = before;
}

StandardNumbersTaken::~StandardNumbersTaken() {
    const NoCancellation noCancellation;
    const int before = errno;
    for (int number = 0; number < kFirstHigh; ++number) {
        if (taken_[number]) {
            (void)close(number);
        }
    }
    errno = before;
}

int StandardNumbersTaken::Raise(int descriptor) noexcept {
    if (descriptor < 0 || descriptor >= kFirstHigh) {
        return descriptor;
    }
    const NoCancellation noCancellation;
    const int raised = fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstHigh);
    const int before = errno;
    (void)close(descriptor);
    errno = before;
    return raised;
}

}  // namespace advstep
