// SPDX-License-Identifier: Apache-2.0
/// Graphs as text.
#ifndef ADVSTEP_GE_GE_IR_BUILD_H_
#define ADVSTEP_GE_GE_IR_BUILD_H_

#include <cstddef>

#include "../graph/graph.h"

namespace ge {

/// Writes the operators, attributes, links and outputs of a graph to the text file `<file>.txt`,
/// which it replaces by a rename: after a failure the file is as it was.
///
/// @param[in] len  bytes of file, without the zero byte
/// @return GRAPH_SUCCESS, or GRAPH_PARAM_INVALID if file is null or empty, len is another number,
///         the file cannot be written or is no regular file, or the graph has no inputs;
///         GEGetErrorMsgV2 returns the reason
ADVSTEP_GRAPH_API graphStatus aclgrphDumpGraph(const Graph& graph, const char* file,
                                               const size_t len);

}  // namespace ge

#endif  // ADVSTEP_GE_GE_IR_BUILD_H_
