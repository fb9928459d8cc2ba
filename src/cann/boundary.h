// SPDX-License-Identifier: Apache-2.0
// The boundary of a call that a library of this folder defines: failures and exceptions become a
// code and a message.

#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "acl/acl_base.h"
#include "src/advstep/client_failure.h"

namespace advstep::cann {

/// A code of acl and its message; code 0 is success.
struct Outcome {
    aclError code = ACL_SUCCESS;
    std::string message;
};

/// Runs `body`, which returns an Outcome, and records its failure or exception for `call`.
template <typename Body>
aclError Boundary(const char* call, Body&& body) noexcept {
    try {
        const Outcome outcome = std::forward<Body>(body)();
        return outcome.code == ACL_SUCCESS
                   ? ACL_SUCCESS
                   : advstepRecordFailure(call, outcome.code, outcome.message.c_str());
    } catch (const std::bad_alloc&) {
        return advstepRecordFailure(call, ACL_ERROR_BAD_ALLOC, "the host is out of memory");
    } catch (const std::exception& error) {
        return advstepRecordFailure(call, ACL_ERROR_INTERNAL_ERROR, error.what());
    }
}

/// 100000: the argument is null.
inline Outcome Null(const char* argument) {
    return {ACL_ERROR_INVALID_PARAM, std::string(argument) + " is null; expected a pointer"};
}

/// 100000: the number of values, lists or tensors is below 0.
inline Outcome Negative(const char* argument, int number) {
    return {ACL_ERROR_INVALID_PARAM,
            std::string(argument) + " is " + std::to_string(number) + "; expected at least 0"};
}

}  // namespace advstep::cann
