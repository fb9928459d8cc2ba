// SPDX-License-Identifier: Apache-2.0
// Every use of operator new in the library comes here first, by the linker's option --wrap (see
// cmake/library.cmake), so that an allocation can be made to fail on purpose. The memory still
// comes from the program's own operator new, and its operator delete frees it.
#include <cstddef>
#include <new>

#include "src/runtime/faults/fault_injection.h"

// The names are the linker's: __wrap_ and __real_ before the mangled name.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

void* __real__Znwm(size_t bytes);
void* __real__Znam(size_t bytes);
void* __real__ZnwmSt11align_val_t(size_t bytes, std::align_val_t alignment);
void* __real__ZnamSt11align_val_t(size_t bytes, std::align_val_t alignment);
void* __real__ZnwmRKSt9nothrow_t(size_t bytes, const std::nothrow_t& tag);
void* __real__ZnamRKSt9nothrow_t(size_t bytes, const std::nothrow_t& tag);

namespace {

bool Fails() { return advstep::AllocationFails(advstep::AllocationKind::kInternal); }

void ThrowIfFails() {
    if (Fails()) {
        throw std::bad_alloc();
    }
}

}  // namespace

void* __wrap__Znwm(size_t bytes) {
    ThrowIfFails();
    return __real__Znwm(bytes);
}
void* __wrap__Znam(size_t bytes) {
    ThrowIfFails();
    return __real__Znam(bytes);
}
void* __wrap__ZnwmSt11align_val_t(size_t bytes, std::align_val_t alignment) {
    ThrowIfFails();
    return __real__ZnwmSt11align_val_t(bytes, alignment);
}
void* __wrap__ZnamSt11align_val_t(size_t bytes, std::align_val_t alignment) {
    ThrowIfFails();
    return __real__ZnamSt11align_val_t(bytes, alignment);
}
void* __wrap__ZnwmRKSt9nothrow_t(size_t bytes, const std::nothrow_t& tag) {
    return Fails() ? nullptr : __real__ZnwmRKSt9nothrow_t(bytes, tag);
}
void* __wrap__ZnamRKSt9nothrow_t(size_t bytes, const std::nothrow_t& tag) {
    return Fails() ? nullptr : __real__ZnamRKSt9nothrow_t(bytes, tag);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
