// SPDX-License-Identifier: Apache-2.0
// Runs the registered hooks in the child of a fork.

#include "src/base/fork.h"

#include <pthread.h>

#include <atomic>
#include <new>

namespace advstep {
namespace {

std::atomic<ForkHook*> allHooks{nullptr};
std::mutex constructionMutex;
bool renewing = false;  // only set while the child has one thread

}  // namespace

bool ForkHook::Renewing() noexcept { return renewing; }

std::mutex& ForkHook::ConstructionMutex() noexcept { return constructionMutex; }

bool ForkHook::IsHooked(const void* owner) noexcept {
    const ForkHook* hook = allHooks.load(std::memory_order_acquire);
    while (hook != nullptr && hook->owner_ != owner) {
        hook = hook->next_;
    }
    return hook != nullptr;
}

void ForkHook::RenewAll() noexcept {
    renewing = true;
    // A thread of the parent may have held the mutex, and does not exist here to release it.
    new (&constructionMutex) std::mutex;
    for (ForkHook* hook = allHooks.load(std::memory_order_acquire); hook != nullptr;
         hook = hook->next_) {
        hook->renew_(hook->owner_);
    }
    renewing = false;
}

ForkHook::ForkHook(Renew renew, void* owner) noexcept : renew_(renew), owner_(owner) {
    next_ = allHooks.load(std::memory_order_relaxed);
    while (!allHooks.compare_exchange_weak(next_, this, std::memory_order_release,
                                           std::memory_order_relaxed)) {
    }
    // The library's static hooks run this line while the library is loaded.
    static const int atFork = pthread_atfork(nullptr, nullptr, &RenewAll);
    (void)atFork;
}

}  // namespace advstep
