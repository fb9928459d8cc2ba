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

/// The properties of a graph that Session::CompileGraph has found in the descriptions of its Data
/// operators. A graph is static if all of these have a shape without unknown dimensions. For
/// another graph only the size of its constants is known: the calls that need shapes return FAILED, with a
/// message in GEGetErrorMsgV2. Sizes are in bytes. The session allocates the memory itself.
class ADVSTEP_GRAPH_API CompiledGraphSummary {
 public:
    bool IsStatic() const;
    Status GetConstMemorySize(size_t& size) const;
    /// Intermediate values and workspaces of a run on a stream that updates nothing in place.
    Status GetFeatureMemorySize(size_t& size) const;
    /// The same, since all of it is fixed.
    Status GetFixedFeatureMemorySize(size_t& size) const;
    /// 0
    Status GetRefreshableFeatureMemorySize(size_t& size) const;
    /// false
    Status GetFeatureMemoryBaseRefreshable(bool& isRefreshable) const;
    /// 1
    Status GetStreamNum(size_t& count) const;
    /// 0
    Status GetEventNum(size_t& count) const;
    Status GetOutputShapes(std::vector<Shape>& shapes) const;
    Status GetOutputDtypes(std::vector<DataType>& dataTypes) const;
    /// Pairs of an input and an output of the graph: the output is what operators make of that
    /// RefData in its own memory.
    Status GetIOIndexesWithSameAddr(std::vector<std::pair<uint32_t, uint32_t>>& pairs) const;

 private:
    friend class advstep::graph::SummaryAccess;
    explicit CompiledGraphSummary(std::shared_ptr<const advstep::graph::SummaryState> state);

    std::shared_ptr<const advstep::graph::SummaryState> state_;
};

}  // namespace ge

#endif  // ADVSTEP_GE_GE_GRAPH_COMPILE_SUMMARY_H_
