// SPDX-License-Identifier: Apache-2.0
// An operator with inputs, outputs and attributes of every kind, and one with nothing.
#ifndef ADVANCE_STEP_TESTS_GRAPH_EVERY_KIND_H_
#define ADVANCE_STEP_TESTS_GRAPH_EVERY_KIND_H_

#include <gtest/gtest.h>

#include <string>

#include "graph/operator_reg.h"

// Names that programs have as macros.
#define SUCCESS 0
#define FAILED -1
namespace ge {
REG_OP(EveryKind)
    .INPUT(both, NoSuchType({1, 2}))
    .OPTIONAL_INPUT(maybe, T)
    .OUTPUT(both, T)
    .OUTPUT(second, BasicType())
    .ATTR(number, Int, -5)
    .ATTR(real, Float, 0.25)
    .ATTR(flag, Bool, true)
    .ATTR(text, String, "default")
    .ATTR(ascend, AscendString, "ascend")
    .ATTR(tensor, Tensor, Tensor(TensorDesc(Shape({1, 2}), FORMAT_ND, DT_INT8)))
    .ATTR(type, Type, DT_INT32)
    .ATTR(numbers, ListInt, {1, 2, 3})
    .ATTR(reals, ListFloat, {0.5, 1.5})
    .ATTR(flags, ListBool, {true, false})
    .ATTR(texts, ListString, {"a", "b", "c"})
    .ATTR(ascends, ListAscendString, {"d"})
    .ATTR(types, ListType, {DT_BOOL, DT_INT64})
    .ATTR(tensors, ListTensor, {})
    .ATTR(matrix, ListListInt, {{1}, {2, 3}})
    .REQUIRED_ATTR(required, Int)
    .REQUIRED_ATTR(requiredTexts, ListString)
    .DATATYPE(T, TensorType::ALL())
    .DYNAMIC_INPUT(many, T)
    .DYNAMIC_OUTPUT(results, T)
    .OP_END_FACTORY_REG(EveryKind)

        REG_OP(Nothing)
    .OP_END_FACTORY_REG(Nothing)
}  // namespace ge
#undef SUCCESS
#undef FAILED

namespace graphs {

inline std::string NameOf(const ge::Operator& op) {
    ge::AscendString name;
    EXPECT_EQ(op.GetName(name), ge::GRAPH_SUCCESS);
    return name.GetString();
}

inline std::string TypeOf(const ge::Operator& op) {
    ge::AscendString type;
    EXPECT_EQ(op.GetOpType(type), ge::GRAPH_SUCCESS);
    return type.GetString();
}

}  // namespace graphs

#endif  // ADVANCE_STEP_TESTS_GRAPH_EVERY_KIND_H_
