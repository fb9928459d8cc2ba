#pragma once

#include <cstdlib>
#include <type_traits>

namespace advstep {

/// A T of the calling thread's own, zeroed, made when it is first asked for; null if there is no
/// memory for it. Of a library that is loaded by dlopen the threads' static memory is scarce (glibc
/// sets some 1.6 KiB aside for all of them), so anything large belongs here.
///
/// Freed when the thread ends. Later calls, from other objects' destructors, make another one.
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
