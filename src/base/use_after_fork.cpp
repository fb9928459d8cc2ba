// SPDX-License-Identifier: Apache-2.0
// Notes that the runtime is in use, and tells it in the child of a fork.

#include "src/base/use_after_fork.h"

#include <fmt/core.h>
#include <unistd.h>

#include <exception>

#include "src/base/fork.h"
#include "src/base/sanitizer.h"
#include "src/base/sanitizer_scope.h"

namespace advstep {
namespace {

// The settings of the runtime in use. They are on the heap and plain, so that the child of a fork
// finds those of its parent. The one who changes them holds the lock of the start of the runtime.
std::atomic<const SanitizerSettings*> inUse{nullptr};

const ForkHook noteFork([](void*) noexcept {
    if (inUse.load() != nullptr) {
        forkedFromUse.store(true);
    }
});

}  // namespace

void SetRuntimeInUse(const SanitizerSettings* settings) {
    const SanitizerScope own;
    delete inUse.exchange(settings != nullptr ? new SanitizerSettings(*settings) : nullptr);
}

void TellUseAfterFork(const char* call) noexcept {
    if (!forkedFromUse.exchange(false)) {
        return;
    }
    const SanitizerScope own;
    try {
        // The runtime of the child has not started, or starts with settings of its own.
        const SanitizerSettings* const settings = inUse.load();
        if (!Sanitizing(SanitizerCheck::kSync) &&
            (settings == nullptr || !StartSanitizer(*settings).ok())) {
            return;
        }
        const CallStack stack = CallStack::Here();
        const std::string name = call != nullptr ? call : stack.EntryCall();
        Finding finding(SanitizerCheck::kSync, "use_after_fork",
                        fmt::format("process {} calls {}, and is the child of a fork of process "
                                    "{}, which had used the runtime",
                                    getpid(), name.empty() ? "the runtime" : name, getppid()));
        finding.Line(
            "on a device such a call fails or hangs; expected a fork before the first call "
            "of the runtime,");
        finding.Line("or a new program instead of a fork (in Python: the start method \"spawn\")");
        finding.Stack("work", "the call in the child:", stack);
        finding.fields().Add("call", name);
        Report(finding);
    } catch (const std::exception&) {
    }
}

}  // namespace advstep
