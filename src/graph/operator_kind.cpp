// SPDX-License-Identifier: Apache-2.0
// Finds the kind of a built-in operator by its type.

#include "src/graph/operator_kind.h"

namespace advstep::graph {

const OperatorKind* FindOperatorKind(const std::string& type) {
    for (const OperatorKind* kind : {&AdvanceStepKind(), &StepKind()}) {
        if (type == kind->type) {
            return kind;
        }
    }
    return nullptr;
}

}  // namespace advstep::graph
