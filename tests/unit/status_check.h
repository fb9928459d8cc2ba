// SPDX-License-Identifier: Apache-2.0
// Comparison of Status codes and messages.
#ifndef ADVANCE_STEP_TESTS_UNIT_STATUS_CHECK_H_
#define ADVANCE_STEP_TESTS_UNIT_STATUS_CHECK_H_

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace unit {

inline testing::AssertionResult Succeeds(const advstep::Status& status) {
    return status.ok() ? testing::AssertionSuccess()
                       : testing::AssertionFailure()
                             << "failed with " << status.code() << ": " << status.message();
}

// It failed with code and its message has every one of parts.
inline testing::AssertionResult FailsWith(int32_t code, const advstep::Status& status,
                                          std::initializer_list<std::string> parts = {}) {
    if (status.code() != code) {
        return testing::AssertionFailure() << "code is " << status.code() << ", expected " << code
                                           << "; message: " << status.message();
    }
    for (const std::string& part : parts) {
        if (std::string_view(status.message()).find(part) == std::string::npos) {
            return testing::AssertionFailure()
                   << "no \"" << part << "\" in the message: " << status.message();
        }
    }
    return testing::AssertionSuccess();
}

}  // namespace unit

#endif  // ADVANCE_STEP_TESTS_UNIT_STATUS_CHECK_H_
