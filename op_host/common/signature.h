// SPDX-License-Identifier: Apache-2.0
// The table of an operator's tensors, which is that of the public interface.

#pragma once

#include "advance_step/operator/signature.hpp"
#include "advance_step/operator/tensor_view.hpp"

namespace advstep {

namespace op = ::advance_step::op;

using advance_step::op::Access;
using advance_step::op::BeginsWith;
using advance_step::op::CallDims;
using advance_step::op::DataTypes;
using advance_step::op::Either;
using advance_step::op::kAtLeastOne;
using advance_step::op::kAtLeastZero;
using advance_step::op::Layout;
using advance_step::op::Only;
using advance_step::op::OrNarrow;
using advance_step::op::PlaceOf;
using advance_step::op::Shape;
using advance_step::op::Shapes;
using advance_step::op::Signature;
using advance_step::op::TensorArgument;
using advance_step::op::TensorView;

}  // namespace advstep
