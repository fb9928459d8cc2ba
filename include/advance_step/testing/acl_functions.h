// SPDX-License-Identifier: Apache-2.0
/// The library's own functions, which no mock replaces, and counts of calls. docs/mocking.md has an
/// example.
#ifndef ADVSTEP_ADVANCE_STEP_TESTING_ACL_FUNCTIONS_H_
#define ADVSTEP_ADVANCE_STEP_TESTING_ACL_FUNCTIONS_H_

#include <cstdint>
#include <string_view>

#include "advance_step/testing/function_headers.inc"

namespace advance_step::testing {

/// A pointer to each public C function, under the function's name. For instance the member
/// aclrtMalloc is aclError (*aclrtMalloc)(void**, size_t, aclrtMemMallocPolicy).
struct AclFunctions {
#define ADVSTEP_FUNCTION(result, name, parameters, arguments) result(*name) parameters;
#define ADVSTEP_LONG_FUNCTION ADVSTEP_FUNCTION
#include "advance_step/testing/acl_functions.inc"
#include "advance_step/testing/aclnn_functions.inc"
#undef ADVSTEP_LONG_FUNCTION
#undef ADVSTEP_FUNCTION
};

/// Returns the functions of libadvance_step.so itself, even while a mock is active.
const AclFunctions& Real();

/// Returns the number of calls of a C function since the start of the program or ForgetCalls. Calls
/// that a mock takes are counted too. Calls through Real() and inside the library are not counted.
/// @throw std::invalid_argument  there is no such function
uint64_t CallsOf(std::string_view function);

/// Sets all counts of CallsOf to 0.
void ForgetCalls();

}  // namespace advance_step::testing

#endif  // ADVSTEP_ADVANCE_STEP_TESTING_ACL_FUNCTIONS_H_
