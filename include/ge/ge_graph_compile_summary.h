// SPDX-License-Identifier: Apache-2.0
/// The sizes of a compiled graph.
#ifndef ADVSTEP_GE_GE_GRAPH_COMPILE_SUMMARY_H_
#define ADVSTEP_GE_GE_GRAPH_COMPILE_SUMMARY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../graph/tensor.h"
#include "../graph/types.h"
#include "ge_api_error_codes.h"

namespace advstep {
namespace graph {
struct SummaryState;
class SummaryAccess;
}  // namespace graph
}  // namespace advstep

namespace ge {

/// The properties of a graph that Session::CompileGraph has derived from the descriptions of its
/// Data operators. A graph is static if none of these has an unknown dimension. For another graph
/// only the size of its constants is known: calls that need shapes return FAILED, with a message in
/// GEGetErrorMsgV2. Sizes are in bytes. The session allocates the memory itself.
class ADVSTEP_GRAPH_API ADVSTEP_GRAPH_OWN_LAYOUT CompiledGraphSummary {
 public:
    bool IsStatic() const;
    /// Returns the bytes of the graph's constants.
    Status GetConstMemorySize(size_t& size) const;
    /// Returns the bytes of the intermediate values and workspaces of a run on a stream, if no
    /// output has the memory of an input.
    Status GetFeatureMemorySize(size_t& size) const;
    /// As GetFeatureMemorySize, because all of that memory is fixed.
    Status GetFixedFeatureMemorySize(size_t& size) const;
    /// Returns 0, because no memory is refreshable.
    Status GetRefreshableFeatureMemorySize(size_t& size) const;
    /// Returns false.
    Status GetFeatureMemoryBaseRefreshable(bool& isRefreshable) const;
    /// Returns 1, because a run uses one stream.
    Status GetStreamNum(size_t& count) const;
    /// Returns 0, because a run uses no events.
    Status GetEventNum(size_t& count) const;
    Status GetOutputShapes(std::vector<Shape>& shapes) const;
    Status GetOutputDtypes(std::vector<DataType>& dataTypes) const;
    /// Returns pairs of an input and an output of the graph that have the same memory: the input is
    /// a RefData, and operators compute the output in the memory of that RefData.
    Status GetIOIndexesWithSameAddr(std::vector<std::pair<uint32_t, uint32_t>>& pairs) const;

 private:
    friend class advstep::graph::SummaryAccess;
    explicit CompiledGraphSummary(std::shared_ptr<const advstep::graph::SummaryState> state);

    std::shared_ptr<const advstep::graph::SummaryState> state_;
};

}  // namespace ge

#endif  // ADVSTEP_GE_GE_GRAPH_COMPILE_SUMMARY_H_
