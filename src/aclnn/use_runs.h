// SPDX-License-Identifier: Apache-2.0
// The bytes of a strided tensor as equal runs.

#pragma once

#include "src/base/tensor_view.h"
#include "src/runtime/task/recorder.h"

namespace advstep {

/// Sets the runs of a use whose range is that of the view. With elements of less than a byte the
/// use is inexact.
void SetRuns(const TensorView& view, Use* use);

}  // namespace advstep
