// SPDX-License-Identifier: Apache-2.0
// The checks of tensors against a signature, which are those of the public interface.

#pragma once

#include "advance_step/operator/tensor_check.hpp"
#include "op_host/common/signature.h"

namespace advstep {

using advance_step::op::CheckLayout;
using advance_step::op::CheckLayouts;
using advance_step::op::CheckShape;
using advance_step::op::CheckShapes;
using advance_step::op::DimOrZero;
using advance_step::op::HasLayout;
using advance_step::op::ShapeText;

}  // namespace advstep
