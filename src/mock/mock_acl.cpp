// SPDX-License-Identifier: Apache-2.0
// Replacements of the C functions: each counts its call and passes it to the newest mock, or to the
// library.
#include "advance_step/testing/mock_acl.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace advance_step::testing {

namespace {

const char* const kNames[kMockedFunctions] = {
#define ADVSTEP_FUNCTION(result, name, parameters, arguments) #name,
#define ADVSTEP_LONG_FUNCTION ADVSTEP_FUNCTION
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
#undef ADVSTEP_LONG_FUNCTION
#undef ADVSTEP_FUNCTION
};

std::atomic<uint64_t> callCounts[kMockedFunctions];

// nullptr: there is no mock, and calls reach the library. The initialiser is constant, because
// constructors of static objects may make calls.
std::atomic<MockAcl*> newestMock{nullptr};

// Counts a call of function `index` and returns the mock that receives it; nullptr: the library
// does.
MockAcl* Called(MockedFunction index) {
    callCounts[index].fetch_add(1, std::memory_order_relaxed);
    return newestMock.load(std::memory_order_acquire);
}

}  // namespace

MockAcl::MockAcl() : MockMethods(kMockedFunctions) {
    before_ = newestMock.exchange(this, std::memory_order_acq_rel);
}

MockAcl::~MockAcl() {
    if (newestMock.exchange(before_, std::memory_order_acq_rel) != this) {
        std::fprintf(stderr, "advance_step::mock: a MockAcl was destroyed before a newer one\n");
        std::abort();
    }
    DestroyMethods();
}

// A method that no test has named has no mocker. GoogleMock decides by the kind of the mock whether
// it is silent, warns or fails.
void MockAcl::ReportUninteresting(const char* function) {
    ::testing::internal::FunctionMocker<void()> call;
    call.SetOwnerAndName(this, function);
    call.Invoke();
}

// Functions that only pass their arguments on: a sanitizer finds nothing in them and would multiply
// the time that this file takes to compile.
#define ADVSTEP_FORWARDS __attribute__((no_sanitize("address", "undefined")))
#define ADVSTEP_FUNCTION(result, name, parameters, arguments)                       \
    ADVSTEP_FORWARDS result MockAcl::name parameters {                              \
        if (AnyMethod* const method = Find(k_##name)) {                             \
            return static_cast<Method<result parameters>*>(method)->Call arguments; \
        }                                                                           \
        ReportUninteresting(#name);                                                 \
        return Real().name arguments;                                               \
    }
#define ADVSTEP_LONG_FUNCTION(result, name, parameters, arguments)                        \
    ADVSTEP_FORWARDS result MockAcl::name(const StepArguments& all) {                     \
        if (AnyMethod* const method = Find(k_##name)) {                                   \
            return static_cast<Method<result(const StepArguments&)>*>(method)->Call(all); \
        }                                                                                 \
        ReportUninteresting(#name);                                                       \
        return all.PassTo(Real().name);                                                   \
    }
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
#undef ADVSTEP_LONG_FUNCTION
#undef ADVSTEP_FUNCTION

uint64_t CallsOf(std::string_view function) {
    for (size_t index = 0; index < kMockedFunctions; ++index) {
        if (kNames[index] == function) {
            return callCounts[index].load(std::memory_order_relaxed);
        }
    }
    throw std::invalid_argument("CallsOf: no function is called " + std::string(function));
}

void ForgetCalls() {
    for (std::atomic<uint64_t>& count : callCounts) {
        count.store(0, std::memory_order_relaxed);
    }
}

}  // namespace advance_step::testing

extern "C" {

#define ADVSTEP_FUNCTION(result, name, parameters, arguments)                  \
    ADVSTEP_FORWARDS result name parameters {                                  \
        using namespace advance_step::testing;                                 \
        MockAcl* const mock = Called(k_##name);                                \
        return mock != nullptr ? mock->name arguments : Real().name arguments; \
    }
#define ADVSTEP_LONG_FUNCTION(result, name, parameters, arguments)                  \
    ADVSTEP_FORWARDS result name parameters {                                       \
        using namespace advance_step::testing;                                      \
        MockAcl* const mock = Called(k_##name);                                     \
        return mock != nullptr ? mock->name(StepArguments ADVSTEP_BRACED arguments) \
                               : Real().name arguments;                             \
    }
#define ADVSTEP_BRACED(...) \
    { __VA_ARGS__ }
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
#undef ADVSTEP_FORWARDS
#undef ADVSTEP_BRACED
#undef ADVSTEP_LONG_FUNCTION
#undef ADVSTEP_FUNCTION

}  // extern "C"
