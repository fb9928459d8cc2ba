// SPDX-License-Identifier: Apache-2.0
// Replacements of CANN's operators: each asks the newest mock, and passes its call on to the
// library, which is looked up by its name because the program's own functions hide it.
#include "advance_step/testing/mock_operators.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "acl/acl_base.h"

namespace advance_step::testing {
namespace {

// nullptr: there is no mock, and calls reach the library.
std::atomic<MockOperators*> newestMock{nullptr};

void* OperatorsLibrary() {
    static void* const library = dlopen(ADVSTEP_MOCK_OPERATORS_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "advance_step::mock_operators: %s\n", dlerror());
        std::abort();
    }
    return library;
}

template <typename Function>
Function* Real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(OperatorsLibrary(), name));
}

aclnnStatus AskPhaseOne(const char* call) {
    MockOperators* const mock = newestMock.load(std::memory_order_acquire);
    return mock != nullptr ? mock->PhaseOne(call) : ACLNN_SUCCESS;
}

aclnnStatus AskPhaseTwo(const char* call) {
    MockOperators* const mock = newestMock.load(std::memory_order_acquire);
    return mock != nullptr ? mock->PhaseTwo(call) : ACLNN_SUCCESS;
}

using PhaseTwoFunction = aclnnStatus(void*, uint64_t, aclOpExecutor*, aclrtStream);

}  // namespace

MockOperators::MockOperators() : before_(newestMock.exchange(this, std::memory_order_acq_rel)) {}

MockOperators::~MockOperators() {
    if (newestMock.exchange(before_, std::memory_order_acq_rel) != this) {
        std::fprintf(stderr,
                     "advance_step::mock_operators: a mock was destroyed before a newer one\n");
        std::abort();
    }
}

}  // namespace advance_step::testing

using namespace advance_step::testing;

#define ADVSTEP_MOCK_LIST(...) __VA_ARGS__
#define ADVSTEP_OPERATOR_FUNCTION(call, parameters, arguments)                                 \
    extern "C" ADVSTEP_API aclnnStatus call##GetWorkspaceSize(                                 \
        ADVSTEP_MOCK_LIST parameters uint64_t* workspaceSize, aclOpExecutor** executor) {      \
        using Function = aclnnStatus(ADVSTEP_MOCK_LIST parameters uint64_t*, aclOpExecutor**); \
        static Function* const ofLibrary = Real<Function>(#call "GetWorkspaceSize");           \
        const aclnnStatus asked = AskPhaseOne(#call);                                          \
        return asked != ACLNN_SUCCESS                                                          \
                   ? asked                                                                     \
                   : ofLibrary(ADVSTEP_MOCK_LIST arguments workspaceSize, executor);           \
    }                                                                                          \
    extern "C" ADVSTEP_API aclnnStatus call(void* workspace, uint64_t workspaceSize,           \
                                            aclOpExecutor* executor, aclrtStream stream) {     \
        static PhaseTwoFunction* const ofLibrary = Real<PhaseTwoFunction>(#call);              \
        const aclnnStatus asked = AskPhaseTwo(#call);                                          \
        return asked != ACLNN_SUCCESS ? asked                                                  \
                                      : ofLibrary(workspace, workspaceSize, executor, stream); \
    }
#include "advance_step/testing/operator_functions.inc"
