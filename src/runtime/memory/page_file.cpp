// SPDX-License-Identifier: Apache-2.0
// Sets the size of files in memory, whatever limits the process has.

#include "src/runtime/memory/page_file.h"

#include <signal.h>

#include <cerrno>
#include <ctime>

#include "src/base/no_cancellation.h"

namespace advstep {

bool SetFileSize(int descriptor, size_t bytes) {
    const NoCancellation noCancellation;
    sigset_t limit;
    sigset_t before;
    sigset_t pending;
    (void)sigemptyset(&limit);
    (void)sigaddset(&limit, SIGXFSZ);
    (void)pthread_sigmask(SIG_BLOCK, &limit, &before);
    (void)sigpending(&pending);
    const int result = ftruncate(descriptor, static_cast<off_t>(bytes));
    const int wrong = errno;
    if (result != 0 && sigismember(&pending, SIGXFSZ) == 0) {
        const timespec now{};
        (void)sigtimedwait(&limit, nullptr, &now);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = wrong;
    return result == 0;
}

}  // namespace advstep
