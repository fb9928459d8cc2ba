// SPDX-License-Identifier: Apache-2.0
// Implements the stop of pthread_exit, by what the Itanium C++ ABI says of exceptions.
#include "src/base/thread_exit.h"

#include <cxxabi.h>
#include <unwind.h>

#include <cstddef>
#include <exception>
#include <typeinfo>

namespace advstep {
namespace {

// The head of an exception and the first member of the globals of a thread, as in section 2.2 of
// the Itanium C++ ABI and in libstdc++. Only the size of the one counts, and the place of the
// other.
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

// pthread_exit unwinds by an exception of glibc's, whose class is 0. At the end of a catch block
// such an exception is deleted by its own cleanup function, and that of glibc ends the process. A
// deleted exception without such a function does nothing: the thread goes on. It takes no
// cancellation from then on, and another pthread_exit begins anew.
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
