// SPDX-License-Identifier: Apache-2.0
// A static object that is never destroyed and that a fork replaces.

#pragma once

#include <cstdlib>
#include <new>

#include "src/base/fork.h"

namespace advstep {

/// A static object that threads may use after main(). It is constructed in place, so its first use
/// allocates nothing and cannot fail, and it is never destroyed. A new object replaces it in the
/// child of a fork.
template <typename T>
class NeverDestroyed {
 public:
    NeverDestroyed() : object_(new (bytes_) T), hook_(&Renew, this) {}
    NeverDestroyed(const NeverDestroyed&) = delete;
    NeverDestroyed& operator=(const NeverDestroyed&) = delete;

    T& operator*() { return *object_; }

 private:
    // Objects of earlier forks are kept, as all objects here are.
    struct Kept {
        T* object;
        Kept* before;
    };

    static void Renew(void* owner) noexcept {
        auto& self = *static_cast<NeverDestroyed*>(owner);
        auto* const kept = new (std::nothrow) Kept{self.object_, self.kept_};
        T* const renewed = new (std::nothrow) T;
        if (kept == nullptr || renewed == nullptr) {
            std::abort();  // a child without memory at its start cannot continue
        }
        self.kept_ = kept;
        self.object_ = renewed;
    }

    alignas(T) unsigned char bytes_[sizeof(T)];
    T* object_;
    Kept* kept_ = nullptr;
    const ForkHook hook_;
};

}  // namespace advstep
