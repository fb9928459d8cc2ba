// SPDX-License-Identifier: Apache-2.0
// The interface between a kernel and the machine that runs it, under the library's own names.

#pragma once

#include "advance_step/operator/kernel.hpp"
#include "op_kernel/common/isa.h"

namespace advstep {

using advance_step::op::CoreContext;
using advance_step::op::CounterNames;
using advance_step::op::CountFn;
using advance_step::op::DescribeFn;
using advance_step::op::Fault;
using advance_step::op::FaultReport;
using advance_step::op::FaultText;
using advance_step::op::ForEachTile;
using advance_step::op::InWords;
using advance_step::op::KernelFn;
using advance_step::op::KernelPhase;
using advance_step::op::KernelProgram;
using advance_step::op::OnFault;
using advance_step::op::RowRange;
using advance_step::op::RowsOf;

}  // namespace advstep
