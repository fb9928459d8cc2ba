// SPDX-License-Identifier: Apache-2.0
// Children by fork. One that hangs is killed by its alarm.
#include "chaos/children.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "chaos/actions.h"
#include "support/sanitizers.h"

namespace chaos {
namespace {

constexpr unsigned kSecondsOfChild = 60;

// Waits for the child; the reason why it is no good, or "".
std::string EndOf(pid_t child) {
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return "fork has failed";
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? ""
               : "a child ended with status " + std::to_string(status);
}

int UseAnew() {
    void* memory = nullptr;
    aclrtStream stream = nullptr;
    char byte = 0;
    const bool isRight = aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0 &&
                         aclrtCreateStream(&stream) == 0 &&
                         aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST) == 0 &&
                         aclrtMemsetAsync(memory, 4096, 7, 4096, stream) == 0 &&
                         aclrtSynchronizeStream(stream) == 0 &&
                         aclrtMemcpy(&byte, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST) == 0 &&
                         byte == 7 && aclrtFree(memory) == 0 && aclFinalize() == 0;
    return isRight ? 0 : 1;
}

}  // namespace

// The child has none of the parent's: every call of it must say so, and it can leave.
void ForkChild(Worker& worker) {
    if (support::kAddressSanitizer) {
        return;  // its allocator does not live through a fork among busy threads
    }
    const aclrtStream stream = worker.AnyStream();
    worker.journal_.Begin("fork");
    const pid_t child = fork();
    if (child == 0) {
        alarm(kSecondsOfChild);
        int32_t device = 0;
        const bool isEmpty = aclrtGetDevice(&device) != 0 && aclrtSynchronizeStream(stream) != 0;
        _exit(isEmpty ? 0 : 1);
    }
    const std::string wrong = EndOf(child);
    worker.journal_.End(0);
    if (!wrong.empty()) {
        Fail(worker.world, wrong);
    }
}

void ForkFreshChild(const World& world) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        alarm(kSecondsOfChild);
        // A thread of the child may get the number of one of the parent's, which the thread
        // sanitizer takes for the same.
        int32_t device = 0;
        _exit(support::kThreadSanitizer ? (aclrtGetDevice(&device) != 0 ? 0 : 1) : UseAnew());
    }
    const std::string wrong = EndOf(child);
    if (!wrong.empty()) {
        Fail(world, wrong);
    }
}

}  // namespace chaos
