// SPDX-License-Identifier: Apache-2.0
// Programs that must not compile: each CASE uses one thing that is not provided.
// Without a CASE it compiles.
#include <string>

#include "array_ops.h"
#include "ge_api.h"
#include "ge_ir_build.h"

namespace ge {
#if CASE == 1  // the type at the end is another one
REG_OP(One).INPUT(x, T).OP_END_FACTORY_REG(Data)
#else
REG_OP(One).INPUT(x, T).OP_END_FACTORY_REG(One)
#endif
}  // namespace ge

int main() {
    const std::map<ge::AscendString, ge::AscendString> options;
    ge::Session session(options);
    std::vector<ge::Tensor> tensors;
    ge::op::Data data("data");
#if CASE == 2  // nodes are read only
    ge::GNode().SetAttr("a", 1);
#elif CASE == 3
    session.ExecuteGraphWithStreamAsync(1, nullptr, tensors, tensors);
#elif CASE == 4  // sessions are not copied
    ge::Session copy(session);
#elif CASE == 5
    session.SetGraphConstMemoryBase(1, nullptr, 0);
#elif CASE == 6
    session.UpdateGraphFeatureMemoryBase(1, nullptr, 0);
#elif CASE == 7
    gert::Tensor device;
#elif CASE == 8
    ge::GeSession modern(options);
#elif CASE == 9
    ge::aclgrphBuildInitialize(options);
#elif CASE == 10  // no conversion from text
    ge::op::Data implicit = "data";
#elif CASE == 11  // an attribute of another type
    data.set_attr_index("one");
#elif CASE == 12  // an input that is not declared
    data.set_input_y(data);
#elif CASE == 13
    data.SetSubgraphBuilder("name", 0, nullptr);
#elif CASE == 14
    ge::Graph().AddNodeByOp(data);
#elif CASE == 15
    ge::Graph().RemoveNode(tensors);
#elif CASE == 16  // a shape is not a list
    ge::TensorDesc desc = ge::Shape({1});
#endif
    return data.IsEmpty() ? 1 : 0;
}
