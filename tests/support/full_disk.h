// SPDX-License-Identifier: Apache-2.0
// A disk on which files do not grow.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_FULL_DISK_H_
#define ADVANCE_STEP_TESTS_SUPPORT_FULL_DISK_H_

#include <sys/resource.h>

#include <csignal>

namespace support {

// No file of the process grows beyond so many bytes, as on a full disk. The signal of a write that
// would do so has its default action, the end of the process: the library must hold it back.
class FullDisk {
 public:
    explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_DFL)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit = {bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;
    ~FullDisk() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

 private:
    rlimit before_{};
    void (*handler_)(int);
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_FULL_DISK_H_
