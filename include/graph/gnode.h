// SPDX-License-Identifier: Apache-2.0
/// Nodes of a graph, which show its operators, links and attributes.
#ifndef ADVSTEP_GRAPH_GNODE_H_
#define ADVSTEP_GRAPH_GNODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ascend_string.h"
#include "error_codes.h"
#include "operator.h"
#include "tensor.h"
#include "types.h"

namespace ge {

class ADVSTEP_GRAPH_OWN_LAYOUT GNode;
using GNodePtr = std::shared_ptr<GNode>;

/// A handle to an operator of a graph. It shows the operator's present state, and keeps the
/// operator and those linked with it alive. It cannot change them. Calls that return a graphStatus
/// return GRAPH_FAILED, and change nothing, for an empty handle and for an unknown index or name.
///
/// No other thread may change the operators during a call.
class ADVSTEP_GRAPH_API ADVSTEP_GRAPH_OWN_LAYOUT GNode {
 public:
    /// An empty handle.
    GNode();

    graphStatus GetType(AscendString& type) const;
    graphStatus GetName(AscendString& name) const;

    /// Returns the node with which the input is linked, and the index of that node's output; null
    /// and -1 for an input that does not exist or is not linked.
    std::pair<GNodePtr, int32_t> GetInDataNodesAndPortIndexs(int32_t index) const;
    std::vector<GNodePtr> GetInControlNodes() const;
    /// Returns the nodes that read the output, each with the index of its input.
    std::vector<std::pair<GNodePtr, int32_t>> GetOutDataNodesAndPortIndexs(int32_t index) const;
    std::vector<GNodePtr> GetOutControlNodes() const;

    /// Returns the number of declared inputs, optional ones included.
    size_t GetInputsSize() const;
    size_t GetOutputsSize() const;
    graphStatus GetInputIndexByName(const AscendString& name, int32_t& index);
    graphStatus GetOutputIndexByName(const AscendString& name, int32_t& index);
    graphStatus GetInputDesc(int32_t index, TensorDesc& desc) const;
    graphStatus GetOutputDesc(int32_t index, TensorDesc& desc) const;
    /// Copies the tensor of the Const or Constant with which the input is linked. Returns
    /// GRAPH_FAILED if the input is linked with something else.
    graphStatus GetInputConstData(int32_t index, Tensor& data) const;

    /// Reads an attribute. The types and the rules are those of Operator::GetAttr.
    template <class T>
    graphStatus GetAttr(const AscendString& name, T& value) const {
        return operator_.GetAttr(name.GetString(), value);
    }
    bool HasAttr(const AscendString& name) const;

 private:
    friend class advstep::graph::OperatorAccess;

    Operator operator_;
};

}  // namespace ge

#endif  // ADVSTEP_GRAPH_GNODE_H_
