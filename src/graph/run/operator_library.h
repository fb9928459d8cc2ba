// SPDX-License-Identifier: Apache-2.0
// The library of CANN's operators, which ties their types.

#pragma once

namespace advstep::graph {

/// Loads the library that stands beside this one, once, and returns whether it is there. The
/// programs of graph mode name no functions of operators, so nothing else loads it.
bool LoadOperators();

}  // namespace advstep::graph
