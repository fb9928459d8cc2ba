// SPDX-License-Identifier: Apache-2.0
// A static object that is never destroyed and that a fork replaces.

#pragma once

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "src/base/fork.h"

namespace advstep {

/// A static object that threads may use after main(). Its first use constructs it in place, so that
/// allocates nothing and cannot fail, and it is never destroyed. A new object replaces it in the
/// child of a fork.
///
/// A static NeverDestroyed is zeros to the compiler and has no guard of the language. The child of
/// a fork would wait for ever at a guard whose thread exists in the parent only. ConstructionMutex
/// takes the guard's place: the child has a new one, and constructs what was half made again. T's
/// constructor uses no other NeverDestroyed.
template <typename T>
class NeverDestroyed {
 public:
    constexpr NeverDestroyed() noexcept = default;
    NeverDestroyed(const NeverDestroyed&) = delete;
    NeverDestroyed& operator=(const NeverDestroyed&) = delete;

    T& operator*() {
        T* const object = object_.load(std::memory_order_acquire);
        return object != nullptr ? *object : Make();
    }

 private:
    // Objects of earlier forks are kept, as all objects here are.
    struct Kept {
        T* object;
        Kept* before;
    };

    [[gnu::noinline]] T& Make() {
        const std::lock_guard<std::mutex> lock(ForkHook::ConstructionMutex());
        if (object_.load(std::memory_order_relaxed) == nullptr) {
            T* const made = new (bytes_) T;
            if (!ForkHook::IsHooked(this)) {  // in a child the parent's hook may be there already
                new (hook_) ForkHook(&Renew, this);
            }
            object_.store(made, std::memory_order_release);
        }
        return *object_.load(std::memory_order_relaxed);
    }

    static void Renew(void* owner) noexcept {
        auto& self = *static_cast<NeverDestroyed*>(owner);
        T* const parents = self.object_.load(std::memory_order_relaxed);
        if (parents == nullptr) {
            return;  // a thread of the parent was making it
        }
        auto* const kept = new (std::nothrow) Kept{parents, self.kept_};
        T* const renewed = new (std::nothrow) T;
        if (kept == nullptr || renewed == nullptr) {
            std::abort();  // a child without memory at its start cannot continue
        }
        self.kept_ = kept;
        self.object_.store(renewed, std::memory_order_release);
    }

    alignas(T) unsigned char bytes_[sizeof(T)] = {};
    alignas(ForkHook) unsigned char hook_[sizeof(ForkHook)] = {};
    std::atomic<T*> object_{nullptr};
    Kept* kept_ = nullptr;
};

}  // namespace advstep
