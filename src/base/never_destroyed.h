#pragma once

#include <cstdlib>
#include <new>

#include "src/base/fork.h"

namespace advstep {

/// For the static objects that threads may use after main(): made where it stands, so the first use
/// takes no memory and cannot fail; never destroyed. In the child of a fork another one takes its
/// place.
template <typename T>
class NeverDestroyed {
 public:
    NeverDestroyed() : object_(new (bytes_) T), hook_(&Renew, this) {}
    NeverDestroyed(const NeverDestroyed&) = delete;
    NeverDestroyed& operator=(const NeverDestroyed&) = delete;

    T& operator*() { return *object_; }

 private:
    // Of a child that forks again: kept, as everything that was here.
    struct Kept {
        T* object;
        Kept* before;
    };

    static void Renew(void* owner) noexcept {
        auto& self = *static_cast<NeverDestroyed*>(owner);
        auto* const kept = new (std::nothrow) Kept{self.object_, self.kept_};
        T* const renewed = new (std::nothrow) T;
        if (kept == nullptr || renewed == nullptr) {
            std::abort();  // a child that has no memory at its begin cannot go on
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
