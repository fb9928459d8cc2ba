// SPDX-License-Identifier: Apache-2.0
// Stops pthread_exit, by the rules of the Itanium C++ ABI for exceptions; readies the unwinder.
#include "src/base/thread_exit.h"

#include <cxxabi.h>
#include <unwind.h>

#include <cstddef>
#include <exception>
#include <typeinfo>

#include "src/base/at_load.h"

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

// The unwinder makes its table of registers when it first walks a stack. A library may bring an
// unwinder of its own (-static-libgcc), which makes a table of its own. If its exception is the
// first of the process, a catch block of this library finds no table here and ends the process.
const AtLoad prepareUnwinder([] {
    return _Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_NORMAL_STOP; }, nullptr);
});

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
