// SPDX-License-Identifier: Apache-2.0
// Operators of one's own that break the rules of kernels and plans.
#include <gtest/gtest.h>
#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/handles.h"
#include "support/own_table.h"
#include "support/runtime_test.h"
#include "support/tensor.h"

namespace conformance {
namespace {

using advance_step::op::CoreContext;
using advance_step::op::KernelFn;
using advance_step::op::KernelProgram;
using advance_step::op::OnFault;
using support::DeviceBuffer;
using support::IsOk;
using support::OwnCall;
using support::OwnPayload;
using support::TakeMessage;

using Values = std::vector<int64_t>;

class OwnAbuseTest : public support::DeviceTest {
 protected:
    static constexpr int64_t kCount = 40;

    void SetUp() override {
        DeviceTest::SetUp();
        Allocate();
    }
    void Allocate() {
        in_ = DeviceBuffer(Values(kCount, 1));
        out_ = DeviceBuffer(Values(kCount, -7));
    }
    static support::Tensor TensorOf(const DeviceBuffer& buffer) {
        return support::Tensor(support::TensorSpec{{kCount}, buffer.Get(), ACL_INT64});
    }
    // Plans and runs a call, and returns the code of the synchronisation.
    aclError Run(const std::function<void(AdvStepOperatorPlan*)>& change) const {
        const auto in = TensorOf(in_), out = TensorOf(out_);
        OwnCall call(in.Get(), nullptr, out.Get(), ++add_, kCount);
        change(&call.plan);
        EXPECT_TRUE(IsOk(call.Plan()));
        EXPECT_TRUE(IsOk(call.Run(nullptr)));
        return aclrtSynchronizeStream(nullptr);
    }
    // Returns the message of a refused plan.
    std::string Refused(const std::function<void(AdvStepOperatorPlan*)>& change) const {
        const auto in = TensorOf(in_), out = TensorOf(out_);
        OwnCall call(in.Get(), nullptr, out.Get(), ++add_, kCount);
        change(&call.plan);
        EXPECT_EQ(call.Plan(), ACLNN_ERR_INNER);
        EXPECT_EQ(call.executor, nullptr);
        return TakeMessage();
    }

    DeviceBuffer in_, out_;
    static inline int64_t add_ = 0;  // another plan in each call
};

// A program lives as long as plans with it, which are kept.
const KernelProgram& ChangedProgram(const std::function<void(KernelProgram*)>& change) {
    static std::deque<KernelProgram> programs;
    programs.push_back(support::kOwnProgram);
    change(&programs.back());
    return programs.back();
}

// The threads that have been in a kernel of the launch, and how many of them there must be before
// one leaves it.
std::mutex meetingMutex;
std::condition_variable meetingChanged;
std::set<std::thread::id> met;
size_t meeting = 1;

void Meet() {
    std::unique_lock<std::mutex> lock(meetingMutex);
    met.insert(std::this_thread::get_id());
    meetingChanged.notify_all();
    meetingChanged.wait(lock, [] { return met.size() >= meeting; });
}

// From core 3 on each core throws; core 3's text is the first in the order of cores.
void ThrowByCore(const CoreContext& core, const void*) {
    Meet();
    if (core.index >= 3) {
        throw std::runtime_error("thrown by core " + std::to_string(core.index));
    }
}
void ThrowNumber(const CoreContext&, const void*) {
    Meet();
    throw 4;
}
void EndThread(const CoreContext& core, const void*) {
    Meet();
    if (core.index % 2 == 1) {
        pthread_exit(nullptr);
    }
}

struct Throwing {
    KernelFn phase;
    const char* says;
};

// A launch of many rows runs on several threads, one of few rows on the thread of the stream.
TEST_F(OwnAbuseTest, AnExceptionOfAKernelFailsTheLaunchOnEveryThread) {
    const Throwing all[] = {{&ThrowByCore, "aclnnOwn threw an exception: thrown by core 3"},
                            {&ThrowNumber, "aclnnOwn threw an exception: not a std::exception"},
                            {&EndThread, "it called pthread_exit; expected it to return"}};
    for (const char* threads : {"1", "4"}) {
        in_ = DeviceBuffer();
        out_ = DeviceBuffer();
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_THREADS", threads}}));
        Allocate();
        for (const Throwing& one : all) {
            for (const int64_t rows : {int64_t{40}, int64_t{40000}}) {
                SCOPED_TRACE(std::string(one.says) + threads + std::to_string(rows));
                met.clear();
                meeting = rows > 40 && threads[0] != '1' ? 2 : 1;
                const KernelProgram& throwing =
                    ChangedProgram([&](auto* p) { p->phases[0].run = one.phase; });
                EXPECT_EQ(Run([&](auto* plan) {
                              plan->program = &throwing;
                              plan->rows = rows;
                              plan->coreCount = 40;
                          }),
                          ACL_ERROR_FAILURE);
                EXPECT_NE(TakeMessage().find(one.says), std::string::npos);
                EXPECT_EQ(out_.Download<int64_t>(), Values(kCount, -7)) << "no later phase ran";
            }
        }
        EXPECT_EQ(Run([](auto* plan) { plan->rows = 40000; }), ACL_SUCCESS);
        EXPECT_EQ(out_.Download<int64_t>(), Values(kCount, 1 + add_));
    }
}

// The product of rows and keptBytesPerRow is beyond 64 bits: the kernel gets less than it wants.
TEST_F(OwnAbuseTest, KeptMemoryOfManyRowsIsLimited) {
    const KernelProgram& kept = ChangedProgram([](auto* p) {
        p->keptBytesPerRow = 1 << 30;
        p->phases[0].run = [](const CoreContext& core, const void*) {
            if (core.keptBytes < 0 || (core.kept == nullptr) != (core.keptBytes == 0)) {
                core.Report(0, 1, {core.keptBytes});
            }
        };
    });
    for (const int64_t rows : {int64_t{1} << 33, int64_t{1} << 34, int64_t{1} << 62}) {
        EXPECT_EQ(Run([&](auto* plan) {
                      plan->program = &kept;
                      plan->rows = rows;
                  }),
                  ACL_SUCCESS)
            << rows;
    }
}

// A function of the first two phases reports one fault for both, which ends the launch.
TEST_F(OwnAbuseTest, AFunctionOfTwoPhasesNeedsTwoThatFail) {
    const KernelFn both = [](const CoreContext&, const void*) {};
    const KernelProgram& one =
        ChangedProgram([&](auto* p) { p->firstTwo = both, p->phaseCount = 1; });
    EXPECT_EQ(Refused([&](auto* plan) { plan->program = &one; }),
              "aclnnOwnGetWorkspaceSize: the plan of operator aclnnOwn is wrong: its program has "
              "firstTwo and 1 phases; expected 2 or more");
    for (const size_t place : {0U, 1U}) {
        const KernelProgram& warns = ChangedProgram(
            [&](auto* p) { p->firstTwo = both, p->phases[place].onFault = OnFault::kWarn; });
        EXPECT_EQ(Refused([&](auto* plan) { plan->program = &warns; }),
                  "aclnnOwnGetWorkspaceSize: the plan of operator aclnnOwn is wrong: its program "
                  "has firstTwo and a phase " +
                      std::to_string(place) + " that warns; expected OnFault::kFail");
    }
}

TEST_F(OwnAbuseTest, AWorkspaceHasAPlaceOfItsOwnAndASize) {
    const std::string begin = "aclnnOwnGetWorkspaceSize: the plan of operator aclnnOwn is wrong: ";
    constexpr int64_t kFar = std::numeric_limits<int64_t>::max() - 7;
    EXPECT_EQ(Refused([](auto* plan) { plan->workspaceAt = kFar; }),
              begin + "workspaceAt is " + std::to_string(kFar) +
                  "; expected -1 or the offset of a pointer in the payload of 48 bytes");
    EXPECT_EQ(Refused([](auto* plan) { plan->workspaceAt = int64_t{offsetof(OwnPayload, out)}; }),
              begin + "workspaceAt is 32, where out has its address; expected a place of its own");
    EXPECT_EQ(Refused([](auto* plan) {
                  advance_step::op::WorkspaceLayout layout;
                  layout.Book<int64_t>(int64_t{1} << 61);
                  plan->workspaceBytes = layout.bytes();
                  plan->workspaceAt = int64_t{offsetof(OwnPayload, workspace)};
              }),
              begin + "workspaceBytes is 18446744073709551615; expected less than 2^63");
}

// A place without bytes, as a plan has whose scratch is empty: phase two gets (nullptr, 0).
TEST_F(OwnAbuseTest, AWorkspaceOfNoBytesNeedsNoMemory) {
    const auto noBytes = [](auto* plan) {
        plan->workspaceAt = int64_t{offsetof(OwnPayload, workspace)};
    };
    EXPECT_EQ(Run(noBytes), ACL_SUCCESS);
    EXPECT_EQ(out_.Download<int64_t>(), Values(kCount, 1 + add_));
    // Whatever is passed, nothing looks at it, also where a tensor is.
    const auto in = TensorOf(in_), out = TensorOf(out_);
    Values host(1);
    for (void* const workspace : {static_cast<void*>(host.data()), out_.Get()}) {
        OwnCall call(in.Get(), nullptr, out.Get(), ++add_, kCount);
        noBytes(&call.plan);
        ASSERT_TRUE(IsOk(call.Plan()));
        EXPECT_EQ(call.workspaceSize, 0U);
        EXPECT_TRUE(IsOk(advstepRunOperator(call.call.op, workspace, 8, call.executor, nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        EXPECT_EQ(out_.Download<int64_t>(), Values(kCount, 1 + add_));
    }
}

}  // namespace
}  // namespace conformance
