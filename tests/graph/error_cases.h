// SPDX-License-Identifier: Apache-2.0
// The ways in which a graph or its tensors are refused.
#ifndef ADVANCE_STEP_TESTS_GRAPH_ERROR_CASES_H_
#define ADVANCE_STEP_TESTS_GRAPH_ERROR_CASES_H_

#include <functional>
#include <string>
#include <vector>

#include "graph/graph_parts.h"

namespace graphs {

enum class At { kAdd, kRun, kRunOnly };  // kRunOnly: BuildGraph does not see it

struct ErrorCase {
    const char* name;
    At at;
    std::function<void(Parts&)> spoil;
    std::vector<std::string> message;
};

std::vector<ErrorCase> ErrorCases();

}  // namespace graphs

#endif  // ADVANCE_STEP_TESTS_GRAPH_ERROR_CASES_H_
