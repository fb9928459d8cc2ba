// SPDX-License-Identifier: Apache-2.0
/// The creation of operators by the name of their type.
#ifndef ADVSTEP_GRAPH_OPERATOR_FACTORY_H_
#define ADVSTEP_GRAPH_OPERATOR_FACTORY_H_

#include <functional>
#include <vector>

#include "ascend_string.h"
#include "error_codes.h"
#include "operator.h"
#include "types.h"

namespace ge {

/// Registers a type, as REG_OP does. Later registrations of the same type are ignored.
class ADVSTEP_GRAPH_API ADVSTEP_GRAPH_OWN_LAYOUT OperatorCreatorRegister {
 public:
    OperatorCreatorRegister(const char* type,
                            const std::function<Operator(const AscendString&)>& creator);
};

/// Creates operators, and lists the types that are registered. Any thread may make any call.
class ADVSTEP_GRAPH_API ADVSTEP_GRAPH_OWN_LAYOUT OperatorFactory {
 public:
    /// Returns an empty handle for an unknown type.
    static Operator CreateOperator(const char* name, const char* type);
    static bool IsExistOp(const char* type);
    /// Returns the types in alphabetical order.
    static graphStatus GetOpsTypeList(std::vector<AscendString>& types);
};

}  // namespace ge

#endif  // ADVSTEP_GRAPH_OPERATOR_FACTORY_H_
