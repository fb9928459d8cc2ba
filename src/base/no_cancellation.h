// SPDX-License-Identifier: Apache-2.0
// Holds back pthread_cancel while a thread is in the library.

#pragma once

#include <pthread.h>

namespace advstep {

/// Holds back the cancellation of the calling thread until the end of the scope. A cancellation
/// would unwind functions that must not be left half done. So every place of the library where a
/// cancellation could take effect is in such a scope: waits, and reads and writes of files. A scope
/// costs about 20 ns, so short calls and tasks have none.
class NoCancellation {
 public:
    NoCancellation() noexcept { (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~NoCancellation() { (void)pthread_setcancelstate(before_, nullptr); }
    NoCancellation(const NoCancellation&) = delete;
    NoCancellation& operator=(const NoCancellation&) = delete;

 private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace advstep
