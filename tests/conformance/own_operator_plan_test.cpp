// SPDX-License-Identifier: Apache-2.0
// Plans of an operator of one's own: right ones run and count, wrong ones and those beyond a limit
// are refused, and kernels that break the rules are told.
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

#include "advance_step/counters.h"
#include "advance_step/fault_injection.h"
#include "support/handles.h"
#include "support/own_table.h"
#include "support/page_vector.h"
#include "support/runtime_test.h"
#include "support/tensor.h"

namespace conformance {
namespace {

namespace op = advance_step::op;

using advance_step::op::CoreContext;
using advance_step::op::KernelFn;
using advance_step::op::KernelProgram;
using advance_step::op::OnFault;
using namespace support;
using Values = std::vector<int64_t>;

class OwnPlanTest : public support::DeviceTest {
 protected:
    static constexpr int64_t kCount = 5;

    void SetUp() override {
        DeviceTest::SetUp();
        in_ = DeviceBuffer(Values{1, 2, 3, 4, 5});
        bias_ = DeviceBuffer(Values{10, 20, 30, 40, 50});
        out_ = DeviceBuffer(Values(kCount, -7));
        const auto in = TensorOf(in_), out = TensorOf(out_);
        ASSERT_TRUE(IsOk(support::PassEarlierPlans(in.Get(), out.Get(), kCount)));
    }
    static support::Tensor TensorOf(const DeviceBuffer& buffer) {
        return support::Tensor(support::TensorSpec{{kCount}, buffer.Get(), ACL_INT64});
    }
    Values Out() const { return out_.Download<int64_t>(); }
    Values OutOf(OwnCall& planned) const {
        EXPECT_TRUE(IsOk(planned.Run(nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        return Out();
    }

    DeviceBuffer in_, bias_, out_;
};

TEST_F(OwnPlanTest, RunsWithAndWithoutTheOptionalTensor) {
    const auto in = TensorOf(in_), bias = TensorOf(bias_), out = TensorOf(out_);
    OwnCall without(in.Get(), nullptr, out.Get(), 100, kCount);
    ASSERT_TRUE(IsOk(without.Plan()));
    EXPECT_EQ(without.views[1].dataType, ACL_DT_UNDEFINED);
    EXPECT_EQ(OutOf(without), (Values{101, 102, 103, 104, 105}));
    OwnCall with(in.Get(), bias.Get(), out.Get(), 100, kCount);
    ASSERT_TRUE(IsOk(with.Plan()));
    EXPECT_EQ(with.isPlanned, 0);
    EXPECT_EQ(OutOf(with), (Values{111, 122, 133, 144, 155}));
}

TEST_F(OwnPlanTest, AnEqualPlanIsFoundAgain) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    OwnCall first(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(first.Plan()));
    EXPECT_EQ(first.isPlanned, 0);
    ASSERT_TRUE(IsOk(first.Run(nullptr)));
    OwnCall again(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(again.Plan()));
    EXPECT_EQ(again.isPlanned, 1);
    ASSERT_TRUE(IsOk(again.Run(nullptr)));
    OwnCall other(in.Get(), nullptr, out.Get(), 2, kCount);
    ASSERT_TRUE(IsOk(other.Plan()));
    EXPECT_EQ(other.isPlanned, 0);
    ASSERT_TRUE(IsOk(other.Run(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(Out(), (Values{3, 4, 5, 6, 7}));
}

TEST_F(OwnPlanTest, APlanForOtherCoresOrAnotherDeviceIsNotFound) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    const auto planned = [&] {
        OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
        EXPECT_TRUE(IsOk(call.Plan()));
        EXPECT_TRUE(IsOk(call.Run(nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        return call.isPlanned != 0;
    };
    EXPECT_FALSE(planned());
    EXPECT_TRUE(planned());
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 5)));
    EXPECT_FALSE(planned());
    EXPECT_TRUE(planned());
    ASSERT_TRUE(IsOk(aclrtResetDeviceResLimit(0)));
    EXPECT_TRUE(planned()) << "the first plan is still there";
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    OwnCall elsewhere(in.Get(), nullptr, out.Get(), 1, kCount);
    EXPECT_TRUE(IsOk(elsewhere.Plan()));
    EXPECT_EQ(elsewhere.isPlanned, 0);
    EXPECT_NE(elsewhere.Run(nullptr), ACLNN_SUCCESS) << "the memory is of device 0";
    EXPECT_TRUE(IsOk(aclrtResetDevice(1)));
}

// Memory that the program has registered is still there, but no longer the device's.
TEST_F(OwnPlanTest, ARepeatableOneUsesNoMemoryOfAnEndedRuntime) {
    for (DeviceBuffer* const buffer : {&in_, &bias_, &out_}) {
        *buffer = DeviceBuffer();
    }
    support::PageVector<int64_t> words(2 * kCount, 3);
    void* device = nullptr;
    ASSERT_TRUE(IsOk(aclrtHostRegister(words.data(), words.size() * sizeof(int64_t),
                                       ACL_HOST_REGISTER_MAPPED, &device)));
    const auto at = [&](int64_t first) {
        return support::Tensor(support::TensorSpec{{kCount}, words.data() + first, ACL_INT64});
    };
    const auto in = at(0), out = at(kCount);
    OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(call.Plan()));
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(call.executor)));
    ASSERT_TRUE(IsOk(call.Run(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(words.back(), 4);
    words.back() = 7;
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_NE(call.Run(nullptr), ACLNN_SUCCESS);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(words.back(), 7);
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(call.executor)));
}

TEST_F(OwnPlanTest, AFaultHasItsWordsAndWritesNothing) {
    in_ = DeviceBuffer(Values{1, 2, -3, 4, -5});
    const auto in = TensorOf(in_), out = TensorOf(out_);
    OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(call.Plan()));
    ASSERT_TRUE(IsOk(call.Run(nullptr)));
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(TakeMessage(),
              "aclrtSynchronizeStream: aclnnOwn: row 2: in is -3; expected at least 0");
    EXPECT_EQ(Out(), Values(kCount, -7));
    AdvStepCounters counters{};
    ASSERT_TRUE(IsOk(advstepReadCounters(0, &counters)));
    EXPECT_EQ(counters.launches, 1u);
    EXPECT_EQ(counters.dataErrors, 1u);
}

TEST_F(OwnPlanTest, FailsOnPurpose) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(call.Plan()));
    ASSERT_TRUE(IsOk(advstepFailLaunch(1, ACL_ERROR_RT_AICORE_EXCEPTION, ADVSTEP_FAULT_IN_STREAM)));
    ASSERT_TRUE(IsOk(call.Run(nullptr)));
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT_NE(TakeMessage().find("aclnnOwn: made to fail"), std::string::npos);
    EXPECT_EQ(Out(), Values(kCount, -7));
    ASSERT_TRUE(IsOk(advstepClearFaults()));
}

TEST_F(OwnPlanTest, CoreLimitsReachTheEnvironment) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 5)));
    OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(call.Plan()));
    EXPECT_EQ(call.environment.vectorCores, 5);
    EXPECT_EQ(call.environment.socVectorCores, 40);
    EXPECT_EQ(aclDestroyAclOpExecutor(call.executor), 0);
    ASSERT_TRUE(IsOk(aclrtResetDeviceResLimit(0)));
}

TEST_F(OwnPlanTest, AnOverlapIsRefused) {
    const auto out = TensorOf(out_);
    OwnCall call(out.Get(), nullptr, out.Get(), 1, kCount);
    EXPECT_EQ(call.Plan(), ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(TakeMessage().find("aclnnOwnGetWorkspaceSize: out at "), 0u);
}

struct WrongPlan {
    std::function<void(AdvStepOperatorPlan*)> change;
    std::string says;
};

KernelProgram ProgramWith(const std::function<void(KernelProgram*)>& change) {
    KernelProgram program = support::kOwnProgram;
    change(&program);
    return program;
}

TEST_F(OwnPlanTest, WrongPlansAreRefused) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    const KernelProgram otherCall = ProgramWith([](auto* p) { p->call = "aclnnOther"; });
    const KernelProgram noCall = ProgramWith([](auto* p) { p->call = nullptr; });
    const KernelProgram noPhase = ProgramWith([](auto* p) { p->phaseCount = 0; });
    const KernelProgram manyPhases = ProgramWith([](auto* p) { p->phaseCount = 7; });
    const KernelProgram noFunction = ProgramWith([](auto* p) { p->phases[1].run = nullptr; });
    const KernelProgram kept = ProgramWith([](auto* p) { p->keptBytesPerRow = -1; });
    static constexpr advance_step::op::CounterNames kNine = {9, {"one"}}, kTwo = {2, {"one"}};
    const auto counting = [](const advance_step::op::CounterNames* names) {
        return ProgramWith([&](auto* p) {
            p->count = [](const void*, int64_t*) {};
            p->counters = names;
        });
    };
    const KernelProgram unnamed = counting(nullptr);
    const KernelProgram many = counting(&kNine);
    const KernelProgram few = counting(&kTwo);
    const std::vector<WrongPlan> wrongs = {
        {[](auto* p) { p->program = nullptr; }, "its program is null; expected one of aclnnOwn"},
        {[&](auto* p) { p->program = &otherCall; },
         "its program is aclnnOther; expected one of aclnnOwn"},
        {[&](auto* p) { p->program = &noCall; },
         "its program is without a call; expected one of aclnnOwn"},
        {[&](auto* p) { p->program = &noPhase; }, "its program has 0 phases; expected 1 to 6"},
        {[&](auto* p) { p->program = &manyPhases; }, "its program has 7 phases; expected 1 to 6"},
        {[&](auto* p) { p->program = &noFunction; }, "phase 1 has no function"},
        {[&](auto* p) { p->program = &kept; }, "keptBytesPerRow is -1; expected at least 0"},
        {[&](auto* p) { p->program = &unnamed; },
         "its program has count and no counters; expected their names"},
        {[&](auto* p) { p->program = &many; }, "its program has 9 counters; expected 0 to 8"},
        {[&](auto* p) { p->program = &few; }, "counter 1 has no name"},
        {[](auto* p) { p->coreCount = 41; },
         "coreCount is 41; expected 0 <= coreCount <= the environment's vectorCores = 40"},
        {[](auto* p) { p->coreCount = -1; },
         "coreCount is -1; expected 0 <= coreCount <= the environment's vectorCores = 40"},
        {[](auto* p) { p->rows = -1; }, "rows is -1; expected at least 0"},
        {[](auto* p) { p->workspaceAt = 44; },
         "workspaceAt is 44; expected -1 or the offset of a pointer in the payload of 48 bytes"},
        {[](auto* p) { p->workspaceBytes = 64; },
         "workspaceBytes is 64 and workspaceAt -1; expected a place for the workspace's address"}};
    for (const WrongPlan& wrong : wrongs) {
        OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
        wrong.change(&call.plan);
        EXPECT_EQ(call.Plan(), ACLNN_ERR_INNER) << wrong.says;
        EXPECT_EQ(
            TakeMessage(),
            "aclnnOwnGetWorkspaceSize: the plan of operator aclnnOwn is wrong: " + wrong.says);
        EXPECT_EQ(call.executor, nullptr);
    }
    OwnCall small(in.Get(), nullptr, out.Get(), 1, kCount);
    small.plan.structBytes = 8;
    EXPECT_EQ(small.Plan(), ACLNN_ERR_INNER);
    EXPECT_NE(TakeMessage().find("plan has structBytes 8; expected"), std::string::npos);
}

struct WrongView {
    std::vector<int64_t> dims;
    std::vector<int64_t> strides;
    int64_t offset;
    aclDataType dataType;
    const char* says;
};

// The plan of the operator has checked nothing.
TEST_F(OwnPlanTest, TensorsWithoutAddressesAreRefused) {
    const auto out = TensorOf(out_);
    const int64_t huge = int64_t{1} << 40;
    const std::vector<WrongView> wrongs = {
        {{5}, {1}, 0, ACL_INT4, "in has data type ACL_INT4; expected one of whole bytes"},
        {{5},
         {1},
         0,
         static_cast<aclDataType>(777),
         "in has data type 777; expected one of whole bytes"},
        {{huge, huge},
         {1, 1},
         0,
         ACL_INT64,
         "in has shape [1099511627776, 1099511627776], strides [1, 1] and offset 0"},
        {{4, 2},
         {huge << 22, 1},
         0,
         ACL_INT64,
         "in has shape [4, 2], strides [4611686018427387904, 1] and offset 0"},
        {{4, 2}, {-2, 1}, 0, ACL_INT64, "in has shape [4, 2], strides [-2, 1] and offset 0"},
        {{-5, 3}, {3, 1}, 0, ACL_INT64, "in has shape [-5, 3], strides [3, 1] and offset 0"},
        {{5}, {1}, -1, ACL_INT64, "in has shape [5], strides [1] and offset -1"}};
    for (const WrongView& wrong : wrongs) {
        aclTensor* const in = aclCreateTensor(wrong.dims.data(), wrong.dims.size(), wrong.dataType,
                                              wrong.strides.data(), wrong.offset, ACL_FORMAT_ND,
                                              wrong.dims.data(), wrong.dims.size(), in_.Get());
        OwnCall call(in, nullptr, out.Get(), 1, kCount);
        EXPECT_EQ(call.Plan(), ACLNN_ERR_PARAM_INVALID) << wrong.says;
        EXPECT_EQ(TakeMessage().rfind("aclnnOwnGetWorkspaceSize: " + std::string(wrong.says), 0),
                  0U);
        EXPECT_EQ(call.executor, nullptr);
        EXPECT_TRUE(IsOk(aclDestroyTensor(in)));
    }
}

// A column of a matrix spans its gaps: here 10 elements, of which the allocation has 5.
TEST_F(OwnPlanTest, AViewWithGapsSpansThem) {
    const auto out = TensorOf(out_);
    const int64_t dims[] = {2, 5};
    const int64_t strides[] = {1, 2};
    aclTensor* const in =
        aclCreateTensor(dims, 2, ACL_INT64, strides, 0, ACL_FORMAT_ND, dims, 2, in_.Get());
    OwnCall call(in, nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(call.Plan()));
    EXPECT_EQ(call.Run(nullptr), ACLNN_ERR_RUNTIME_ERROR);
    EXPECT_NE(TakeMessage().find("in takes 80 bytes"), std::string::npos);
    EXPECT_TRUE(IsOk(aclDestroyTensor(in)));
}

TEST_F(OwnPlanTest, APlanWithoutAPayloadIsRefused) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    OwnCall call(in.Get(), nullptr, out.Get(), 1, kCount);
    call.plan.payload = nullptr;
    EXPECT_EQ(call.Plan(), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(TakeMessage(), "aclnnOwnGetWorkspaceSize: plan->payload is null; expected a pointer");
    EXPECT_EQ(call.executor, nullptr);
}

// The limits of an operator of one's own: more phases or cores than there may be are refused.

class OwnLimitsTest : public support::DeviceTest {
 protected:
    static constexpr int64_t kCount = 3;

    void SetUp() override {
        DeviceTest::SetUp();
        in_ = support::DeviceBuffer(Values{1, 2, 3});
        out_ = support::DeviceBuffer(Values(kCount, -7));
    }
    static support::Tensor TensorOf(const support::DeviceBuffer& buffer) {
        return support::Tensor(support::TensorSpec{{kCount}, buffer.Get(), ACL_INT64});
    }

    support::DeviceBuffer in_, out_;
};

void AddOne(const op::CoreContext& core, const void* payload) {
    const auto& p = *static_cast<const support::OwnPayload*>(payload);
    for (int64_t i = core.index; i < p.count; i += 4) {
        p.out[i] += 1;
    }
}

TEST_F(OwnLimitsTest, SixPhasesRunAndSevenAreRefused) {
    static const op::KernelProgram kSix = op::MakeKernelProgram(
        "aclnnOwn", nullptr, {&support::CommitOwn, &AddOne, &AddOne, &AddOne, &AddOne, &AddOne});
    static const op::KernelProgram kSeven = op::MakeKernelProgram(
        "aclnnOwn", nullptr,
        {&support::CommitOwn, &AddOne, &AddOne, &AddOne, &AddOne, &AddOne, &AddOne});
    const auto in = TensorOf(in_), out = TensorOf(out_);
    support::OwnCall six(in.Get(), nullptr, out.Get(), 600, kCount);
    six.plan.program = &kSix;
    ASSERT_TRUE(IsOk(six.Plan()));
    ASSERT_TRUE(IsOk(six.Run(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(out_.Download<int64_t>(), (Values{606, 607, 608}));
    support::OwnCall seven(in.Get(), nullptr, out.Get(), 700, kCount);
    seven.plan.program = &kSeven;
    EXPECT_EQ(seven.Plan(), ACLNN_ERR_INNER);
    EXPECT_EQ(support::TakeMessage(),
              "aclnnOwnGetWorkspaceSize: the plan of operator aclnnOwn is wrong: its program has 7 "
              "phases; expected 1 to 6");
    EXPECT_EQ(seven.executor, nullptr);
}

// The limit of the plan is what the operator was told, whatever a thread sets meanwhile.
TEST_F(OwnLimitsTest, APlanUsesNoMoreCoresThanItsEnvironmentHas) {
    const auto in = TensorOf(in_), out = TensorOf(out_);
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 3)));
    support::OwnCall more(in.Get(), nullptr, out.Get(), 900, kCount);
    ASSERT_TRUE(IsOk(more.Begin()));
    ASSERT_TRUE(IsOk(aclrtResetDeviceResLimit(0)));
    EXPECT_EQ(more.Finish(), ACLNN_ERR_INNER);
    EXPECT_EQ(support::TakeMessage(),
              "aclnnOwnGetWorkspaceSize: the plan of operator aclnnOwn is wrong: coreCount is 4; "
              "expected 0 <= coreCount <= the environment's vectorCores = 3");
    EXPECT_EQ(more.executor, nullptr);
    support::OwnCall many(in.Get(), nullptr, out.Get(), 901, kCount);
    ASSERT_TRUE(IsOk(many.Begin()));
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 3)));
    EXPECT_TRUE(IsOk(many.Finish()));
    EXPECT_EQ(aclDestroyAclOpExecutor(many.executor), 0);
    ASSERT_TRUE(IsOk(aclrtResetDeviceResLimit(0)));
}

// Operators of one's own that break the rules of kernels and plans.

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
