// SPDX-License-Identifier: Apache-2.0
// A static object that is never destroyed and that a fork replaces.

#pragma once

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "src/base/fork.h"

namespace advstep {

/// A static object that threads may use after main(). Its first use constructs it in place, which
/// needs no allocation, and it is never destroyed. A new object replaces it in the child of a fork.
///
/// A static NeverDestroyed is initialised with zeros, so the compiler makes no guard for its
/// construction. With such a guard, the child of a fork could wait for ever for a thread that
/// exists only in the parent. The ConstructionMutex replaces the guard: the child has a new mutex,
/// and constructs a half made object again. T's constructor uses no other NeverDestroyed.
///
/// A singleton X is a static NeverDestroyed in a free function `X& TheX()` (`TheXs()`: a table of
/// X), which is a private member of X if only X may reach it.
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
    // An object of the parent of a fork, which is kept, because no object here is destroyed.
    struct ParentObject {
        T* object;
        ParentObject* before;
    };

    [[gnu::noinline]] T& Make() {
        const std::lock_guard<std::mutex> lock(ForkHook::ConstructionMutex());
        if (object_.load(std::memory_order_relaxed) == nullptr) {
            T* const made = new (bytes_) T;
            if (!ForkHook::IsHooked(this)) {  // a child may have the parent's hook already
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
            return;  // a thread of the parent was constructing the object
        }
        auto* const record = new (std::nothrow) ParentObject{parents, self.parents_};
        T* const renewed = new (std::nothrow) T;
        if (record == nullptr || renewed == nullptr) {
            std::abort();  // a child without memory at its start cannot continue
        }
        self.parents_ = record;
        self.object_.store(renewed, std::memory_order_release);
    }

    alignas(T) unsigned char bytes_[sizeof(T)] = {};
    alignas(ForkHook) unsigned char hook_[sizeof(ForkHook)] = {};
    std::atomic<T*> object_{nullptr};
    ParentObject* parents_ = nullptr;
};

}  // namespace advstep
