// SPDX-License-Identifier: Apache-2.0
// Faults that the kernels of an operator of one's own report: which one is told, and how.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/handles.h"
#include "support/own_table.h"
#include "support/runtime_test.h"
#include "support/table.h"
#include "support/tensor.h"

namespace conformance {
namespace {

using advance_step::op::CoreContext;
using advance_step::op::KernelFn;
using advance_step::op::KernelProgram;
using support::IsError;

constexpr int32_t kCores = 40;
constexpr int kFault = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;

struct FaultMachine {
    std::string name;
    const char* threads;
    const char* order;
    int64_t rows;  // many rows run on all threads
};

class OwnFaultTest : public support::DeviceTest, public testing::WithParamInterface<FaultMachine> {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_THREADS", GetParam().threads},
                                         {"ADVANCE_STEP_CORE_ORDER", GetParam().order}}));
    }
    // The code of a launch whose first phase is `check`, and whose second one must not run.
    template <KernelFn kCheck>
    static int Run() {
        static const KernelProgram program = advance_step::op::MakeKernelProgram(
            support::kOwnTable.call, nullptr, {kCheck, &support::CommitOwn});
        const std::vector<int64_t> before(4, -7);
        const support::DeviceBuffer inMemory(before), outMemory(before);
        const support::Tensor in(support::TensorSpec{{4}, inMemory.Get(), ACL_INT64}),
            out(support::TensorSpec{{4}, outMemory.Get(), ACL_INT64});
        support::OwnCall call(in.Get(), nullptr, out.Get(), ++add_, 4);
        call.plan.program = &program;
        call.plan.coreCount = kCores;
        call.plan.rows = GetParam().rows;
        EXPECT_TRUE(support::IsOk(call.Plan()));
        EXPECT_TRUE(support::IsOk(call.Run(nullptr)));
        const int code = aclrtSynchronizeStream(nullptr);
        EXPECT_EQ(outMemory.Download<int64_t>(), before);
        return code;
    }

 private:
    static inline int64_t add_ = 0;  // another plan in each call, else one that is kept is found
};

void ReportMinusOne(const CoreContext& core, const void* /*payload*/) {
    if (core.index == 30) {
        core.Report(3, 1, {});
        core.Report(-1, 2, {});
    }
}

void ReportNoRow(const CoreContext& core, const void* /*payload*/) {
    if (core.index == 30) {
        core.Report(3, 1, {});
        core.Report(-1, 2, {});
        core.Report(-5, 3, {});
        core.Report(0, 4, {});
    }
}

void ReportLeastRow(const CoreContext& core, const void* /*payload*/) {
    core.Report(core.index == 30 ? INT64_MIN : 0, core.index, {});
}

// Whatever the number: -1 is that of no fault in a Fault.
TEST_P(OwnFaultTest, ANegativeRowIsNoneAndLowerThanAll) {
    EXPECT_TRUE(IsError(kFault, Run<&ReportMinusOne>(), {"aclnnOwn: the data: fault 2"}));
    EXPECT_TRUE(IsError(kFault, Run<&ReportNoRow>(), {"aclnnOwn: the data: fault 2"}));
    EXPECT_TRUE(IsError(kFault, Run<&ReportLeastRow>(), {"aclnnOwn: the data: fault 30"}));
}

void ReportSameRow(const CoreContext& core, const void* /*payload*/) {
    core.Report(9, 100, {});
    core.Report(7, core.index, {});
    core.Report(7, 200, {});
}

// All cores report the same row: the fault of the lowest core is told, whichever ran first.
TEST_P(OwnFaultTest, OfOneRowTheLowestCoresFirstFaultIsTold) {
    for (int repeat = 0; repeat < 20; ++repeat) {
        ASSERT_TRUE(IsError(kFault, Run<&ReportSameRow>(), {"aclnnOwn: row 7: fault 0"}));
    }
}

void ReportValues(const CoreContext& core, const void* /*payload*/) {
    const int64_t row = 1000 - core.index;
    if (core.index == 39) {
        core.Report(row, 5, {core.index, -2, 3, 4, 5, 6});
    } else {
        core.Report(row, 6, {});
    }
}

void ReportOneValue(const CoreContext& core, const void* /*payload*/) {
    core.Report(-1 - core.index, 7, {42});
}

void ReportNoValues(const CoreContext& core, const void* /*payload*/) {
    core.Report(core.index, 8, {});
}

TEST_P(OwnFaultTest, WithoutWordsTheValuesAreTold) {
    const std::string begin = "aclrtSynchronizeStream: aclnnOwn: ";
    EXPECT_EQ(Run<&ReportValues>(), kFault);
    EXPECT_EQ(support::TakeMessage(), begin + "row 961: fault 5 with 39, -2, 3, 4");
    EXPECT_EQ(Run<&ReportOneValue>(), kFault);
    EXPECT_EQ(support::TakeMessage(), begin + "the data: fault 7 with 42");
    EXPECT_EQ(Run<&ReportNoValues>(), kFault);
    EXPECT_EQ(support::TakeMessage(), begin + "row 0: fault 8");
}

INSTANTIATE_TEST_SUITE_P(Table, OwnFaultTest,
                         testing::Values(FaultMachine{"OneThread", "1", "ascending", 4},
                                         FaultMachine{"OneThreadShuffled", "1", "1", 4},
                                         FaultMachine{"OneThreadOtherwise", "1", "2", 4},
                                         FaultMachine{"FourThreads", "4", "ascending", 40000},
                                         FaultMachine{"FourThreadsShuffled", "4", "3", 4}),
                         support::CaseName());

}  // namespace
}  // namespace conformance
