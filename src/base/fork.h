// SPDX-License-Identifier: Apache-2.0
// Hooks that renew the library's state in the child of a fork.

#pragma once

#include <mutex>

namespace advstep {

/// A hook that renews a part of the library in the child of a fork. The parent's other threads do
/// not exist in the child, but they may have held locks and left objects half changed. So the
/// library makes new objects in the child, and never uses those of the parent. Hooks are static
/// objects or members of static objects.
class ForkHook {
 public:
    using Renew = void (*)(void* owner) noexcept;

    /// The child of a fork calls `renew(owner)`, in the thread that forked, before fork returns.
    explicit ForkHook(Renew renew, void* owner = nullptr) noexcept;
    ForkHook(const ForkHook&) = delete;
    ForkHook& operator=(const ForkHook&) = delete;

    /// Returns whether a hook with this owner is registered.
    static bool IsHooked(const void* owner) noexcept;

    /// Returns whether this is a child that runs its hooks. Their allocations are of no call, so no
    /// fault on purpose strikes them.
    static bool Renewing() noexcept;

    /// Guards the construction of static objects. The child of a fork has a new one. No other lock
    /// is taken while it is held.
    static std::mutex& ConstructionMutex() noexcept;

 private:
    static void RenewAll() noexcept;

    const Renew renew_;
    void* const owner_;
    ForkHook* next_ = nullptr;  // in the list of all hooks, which only grows
};

}  // namespace advstep
