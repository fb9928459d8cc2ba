// SPDX-License-Identifier: Apache-2.0
// Calls of the functions that only refuse, which the build makes of the catalogue.

#pragma once

#include <vector>

namespace conformance {

struct RefusedCase {
    const char* name;
    const char* refusal;  // the message without the name
    bool (*refuses)();    // calls with zeros; false: the value is not that of a refusal
};

std::vector<RefusedCase> RefusedCases();

}  // namespace conformance
