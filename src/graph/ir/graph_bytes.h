// SPDX-License-Identifier: Apache-2.0
// A graph model as the bytes of a graph file.

#pragma once

#include <string>
#include <string_view>

#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/outcome.h"

namespace advstep::graph {

/// Makes the contents of a graph file: a magic text, a version, a checksum and the model. Returns a
/// failure if a data type, a format or a placement is no value of its enumeration, since ReadModel
/// would refuse it.
Outcome WriteModel(const GraphModel& model, std::string* bytes);

/// Reads what WriteModel made. Returns a failure, and leaves *model unspecified, if the bytes are
/// of another format or version, damaged, or describe links to nodes or outputs that do not exist.
Outcome ReadModel(std::string_view bytes, GraphModel* model);

}  // namespace advstep::graph
