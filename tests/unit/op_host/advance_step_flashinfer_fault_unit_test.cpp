// SPDX-License-Identifier: Apache-2.0
// Tests of AdvanceStepFlashInfer's fault messages.

#include "op_host/advance_step/advance_step_flashinfer.h"

#include <gtest/gtest.h>

#include "op_kernel/advance_step/advance_step_flashinfer_kernel.h"

namespace advstep {
namespace {

// The one fault that no test of the whole can make.
TEST(AdvanceStepFlashInferFaultTest, TooManyPages) {
    const AdvanceStepFlashInferPayload payload{};
    Fault fault;
    fault.row = 5;
    fault.kind = static_cast<int32_t>(AdvanceStepFault::kTooManyPages);
    fault.values[0] = int64_t{1} << 31;
    const FaultReport report = DescribeAdvanceStepFlashInferFault(fault, &payload);
    EXPECT_EQ(report.code, 507035);
    EXPECT_EQ(report.message,
              "query 5: 2147483648 block ids up to it; expected at most 2147483647 for "
              "pagedKvIndptr");
}

}  // namespace
}  // namespace advstep
