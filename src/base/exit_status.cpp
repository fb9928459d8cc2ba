// SPDX-License-Identifier: Apache-2.0
// Changes the exit status of the process after all other hooks of the library have run.

#include "src/base/exit_status.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "src/base/fork.h"

namespace advstep {
namespace {

std::atomic<bool> hooked{false};
std::atomic<bool> fails{false};
const ForkHook succeedAnew([](void*) noexcept { fails.store(false); });

void ChangeStatusAtExit(int status, void*) {
    if (fails.load() && status == EXIT_SUCCESS) {
        std::fflush(nullptr);
        _exit(EXIT_FAILURE);
    }
}

}  // namespace

void PrepareExitStatus() noexcept {
    if (!hooked.exchange(true)) {
        (void)on_exit(&ChangeStatusAtExit, nullptr);
    }
}

void FailAtExit() noexcept { fails.store(true); }

}  // namespace advstep
