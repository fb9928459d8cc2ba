// SPDX-License-Identifier: Apache-2.0
// The rows of a core, and the tiles that they are cut into, under the library's own names.

#pragma once

#include "advance_step/operator/kernel.hpp"

namespace advstep {

using advance_step::op::ForEachTile;
using advance_step::op::RowRange;
using advance_step::op::RowsOf;

}  // namespace advstep
