// SPDX-License-Identifier: Apache-2.0
// What a plan depends on besides its arguments, under the library's own names.

#pragma once

#include "advance_step/operator/environment.hpp"

namespace advstep {

namespace op = ::advance_step::op;

using advance_step::op::Conformance;
using advance_step::op::OnDivergence;
using OperatorEnvironment = advance_step::op::Environment;

}  // namespace advstep
