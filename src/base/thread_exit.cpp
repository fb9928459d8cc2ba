// SPDX-License-Identifier: Apache-2.0
// Implements the stop of pthread_exit, by the rules of the Itanium C++ ABI for exceptions.
#include "src/base/thread_exit.h"

#include <cxxabi.h>
#include <unwind.h>

#include <cstddef>
#include <exception>
#include <typeinfo>

namespace advstep {
namespace {

// The head of an exception, and the first member of a thread's globals, as in section 2.2 of the
// Itanium C++ ABI and in libstdc++. Only the place of `unwind` in the head and the place of
// `caught` matter.
struct ExceptionHead {
    std::type_info* type;
    void (*destructor)(void*);
    void (*unexpected)();
    std::terminate_handler terminate;
    ExceptionHead* next;
    int handlers;
    int switchValue;
    const unsigned char* action;
    const unsigned char* data;
    void* catchTemp;
    void* adjusted;
    _Unwind_Exception unwind;
};
struct Globals {
    ExceptionHead* caught;
};

}  // namespace

// pthread_exit unwinds the stack by an exception of glibc, whose class is 0. The end of a catch
// block deletes such an exception by its cleanup function, and glibc's function ends the process.
// Without a cleanup function the deletion does nothing, and the thread continues. The thread then
// ignores cancellations, and another pthread_exit works as before.
bool StopThreadExit() noexcept {
    const ExceptionHead* const head = reinterpret_cast<Globals*>(abi::__cxa_get_globals())->caught;
    if (head == nullptr || abi::__cxa_current_exception_type() != nullptr) {
        return false;
    }
    auto* const exception = const_cast<_Unwind_Exception*>(&head->unwind);
    if (exception->exception_class != 0) {
        return false;
    }
    exception->exception_cleanup = nullptr;
    return true;
}

}  // namespace advstep
