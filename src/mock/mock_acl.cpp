// SPDX-License-Identifier: Apache-2.0
// Replacements of the C functions: each counts its call and passes it to the newest mock, or to the
// library. All code of the mock that needs GoogleMock is in this file, because it takes long to
// compile.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "advance_step/testing/mock_acl.h"

namespace advance_step::testing {

namespace {

enum Index : size_t {
#define ADVSTEP_FUNCTION(result, name, parameters, arguments) k_##name,
#define ADVSTEP_LONG_FUNCTION ADVSTEP_FUNCTION
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
    kFunctions
#undef ADVSTEP_FUNCTION
};

const char* const kNames[kFunctions] = {
#define ADVSTEP_FUNCTION(result, name, parameters, arguments) #name,
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
#undef ADVSTEP_LONG_FUNCTION
#undef ADVSTEP_FUNCTION
};

std::atomic<uint64_t> counts[kFunctions];

// nullptr: there is no mock, and calls reach the library. The initialiser is constant, because
// constructors of static objects may make calls.
std::atomic<MockAcl*> newestMock{nullptr};

// Counts a call of function `index` and returns the mock that receives it; nullptr: the library
// does.
MockAcl* Called(Index index) {
    counts[index].fetch_add(1, std::memory_order_relaxed);
    return newestMock.load(std::memory_order_acquire);
}

}  // namespace

MockAcl::MockAcl() {
#define ADVSTEP_FUNCTION(result, name, parameters, arguments) \
    ON_CALL(*this, name).WillByDefault(Real().name);
#define ADVSTEP_LONG_FUNCTION(result, name, parameters, arguments)    \
    ON_CALL(*this, name).WillByDefault([](const StepArguments& all) { \
        return all.PassTo(Real().name);                               \
    });
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
#undef ADVSTEP_LONG_FUNCTION
#undef ADVSTEP_FUNCTION
    before_ = newestMock.exchange(this, std::memory_order_acq_rel);
}

MockAcl::~MockAcl() {
    if (newestMock.exchange(before_, std::memory_order_acq_rel) != this) {
        std::fprintf(stderr, "advance_step::mock: a MockAcl was destroyed before a newer one\n");
        std::abort();
    }
}

uint64_t CallsOf(std::string_view function) {
    for (size_t index = 0; index < kFunctions; ++index) {
        if (kNames[index] == function) {
            return counts[index].load(std::memory_order_relaxed);
        }
    }
    throw std::invalid_argument("CallsOf: no function is called " + std::string(function));
}

void ForgetCalls() {
    for (std::atomic<uint64_t>& count : counts) {
        count.store(0, std::memory_order_relaxed);
    }
}

}  // namespace advance_step::testing

namespace testing {
template class NiceMock<advance_step::testing::MockAcl>;
template class NaggyMock<advance_step::testing::MockAcl>;
template class StrictMock<advance_step::testing::MockAcl>;
}  // namespace testing

extern "C" {

#define ADVSTEP_FUNCTION(result, name, parameters, arguments)                  \
    result name parameters {                                                   \
        using namespace advance_step::testing;                                 \
        MockAcl* const mock = Called(k_##name);                                \
        return mock != nullptr ? mock->name arguments : Real().name arguments; \
    }
#define ADVSTEP_LONG_FUNCTION(result, name, parameters, arguments)                  \
    result name parameters {                                                        \
        using namespace advance_step::testing;                                      \
        MockAcl* const mock = Called(k_##name);                                     \
        return mock != nullptr ? mock->name(StepArguments ADVSTEP_BRACED arguments) \
                               : Real().name arguments;                             \
    }
#define ADVSTEP_BRACED(...) \
    { __VA_ARGS__ }
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"

}  // extern "C"
