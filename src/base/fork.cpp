// SPDX-License-Identifier: Apache-2.0
// Runs the registered hooks in the child of a fork.

#include "src/base/fork.h"

#include <pthread.h>

#include <atomic>

namespace advstep {
namespace {

std::atomic<ForkHook*> allHooks{nullptr};

}  // namespace

void ForkHook::RenewAll() noexcept {
    for (ForkHook* hook = allHooks.load(std::memory_order_acquire); hook != nullptr;
         hook = hook->next_) {
        hook->renew_(hook->owner_);
    }
}

ForkHook::ForkHook(Renew renew, void* owner) noexcept : renew_(renew), owner_(owner) {
    next_ = allHooks.load(std::memory_order_relaxed);
    while (!allHooks.compare_exchange_weak(next_, this, std::memory_order_release,
                                           std::memory_order_relaxed)) {
    }
    // The library's own static hooks run this while the library is loaded.
    static const int atFork = pthread_atfork(nullptr, nullptr, &RenewAll);
    (void)atFork;
}

}  // namespace advstep
