// SPDX-License-Identifier: Apache-2.0
// Memory of the calling thread, allocated at first use.

#pragma once

#include <cstdlib>
#include <type_traits>

namespace advstep {

/// Returns the calling thread's own T, which the first call allocates and fills with zeros; null if
/// memory is short. Large thread-local data belongs here, because a library that is loaded by
/// dlopen has little static thread-local memory: glibc reserves some 1.6 KiB for all such
/// libraries.
///
/// The T is freed when the thread ends. If the destructor of another object calls this later, it
/// gets a new T.
template <typename T>
T* ThreadMemory() noexcept {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
    struct Freer {
        T** memory;
        ~Freer() {
            std::free(*memory);
            *memory = nullptr;
        }
    };
    [[gnu::tls_model("initial-exec")]] static thread_local T* memory = nullptr;
    if (__builtin_expect(memory == nullptr, 0)) {
        memory = static_cast<T*>(std::calloc(1, sizeof(T)));
        thread_local const Freer freer{&memory};
        (void)freer;
    }
    return memory;
}

}  // namespace advstep
