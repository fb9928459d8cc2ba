// SPDX-License-Identifier: Apache-2.0
// Rows of caches. Caches are large: they are not copied, but written where they are, once all
// places have been checked.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// varRef[indices[row]] = updates[row].
void ScatterNdUpdate(Call& call);

/// data[b][..., place : place + length, ...] = updates[b] along an axis, with a place for each b.
void ScatterUpdate(Call& call);

/// out[row] = self[indices[row]].
void GatherNd(Call& call);

}  // namespace advstep_operators
