// SPDX-License-Identifier: Apache-2.0
// The functions of libadvance_step.so. The functions of this program hide them, so they are looked
// up through a handle of the library.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "advance_step/testing/acl_functions.h"

namespace advance_step::testing {

namespace {

// The library is loaded at the program's start, unless the linker dropped it as unused.
void* OpenLibrary() {
    void* library = dlopen(ADVSTEP_MOCK_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "advance_step::mock: %s\n", dlerror());
        std::abort();
    }
    return library;
}

template <typename Function>
void Find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    if (function == nullptr) {
        std::fprintf(stderr, "advance_step::mock: " ADVSTEP_MOCK_LIBRARY " has no %s\n", name);
        std::abort();
    }
}

AclFunctions FindAll() {
    void* const library = OpenLibrary();
    AclFunctions real{};
#define ADVSTEP_FUNCTION(result, name, parameters, arguments) Find(library, #name, real.name);
#define ADVSTEP_LONG_FUNCTION ADVSTEP_FUNCTION
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
#undef ADVSTEP_LONG_FUNCTION
#undef ADVSTEP_FUNCTION
    return real;
}

}  // namespace

const AclFunctions& Real() {
    static const AclFunctions real = FindAll();
    return real;
}

}  // namespace advance_step::testing
