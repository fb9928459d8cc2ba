// SPDX-License-Identifier: Apache-2.0
// A payload of the largest alignment is aligned wherever an operator gets it, however it is run.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "advance_step/counters.h"
#include "advance_step/operator.h"
#include "conformance/capture_fixture.h"
#include "support/tensor.h"

namespace conformance {
namespace {

namespace op = advance_step::op;

using Values = std::vector<int64_t>;

constexpr char kAlignedCall[] = "aclnnAligned";

struct alignas(16) AlignedPayload {
    int64_t number;
    const int64_t* in;
    int64_t* out;
};

// The distance of a payload from the address that its type needs, and a number that is no distance.
int64_t Misplaced(const void* payload) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(payload) % alignof(AlignedPayload));
}
constexpr int64_t kUnwritten = -7;

std::atomic<int64_t> countedAt{0};

template <int kWord>
void NotePlace(const op::CoreContext& core, const void* payload) {
    AlignedPayload p;  // the payload may be misplaced
    std::memcpy(&p, payload, sizeof(p));
    if (core.index == 0) {
        p.out[kWord] = Misplaced(payload);
        p.out[2] = p.number;
    }
    if (kWord == 1 && p.in[0] < 0) {
        core.Report(0, 1, {});
    }
}

op::FaultReport DescribeAligned(const op::Fault& /*fault*/, const void* payload) {
    return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, op::Text("misplaced by ", Misplaced(payload))};
}

constexpr op::CounterNames kAlignedCounters = {2, {"launched", "advanced"}};

void CountAligned(const void* payload, int64_t* numbers) {
    countedAt = Misplaced(payload);
    numbers[0] = 1;
    numbers[1] = 3;
}

op::KernelProgram MakeAlignedProgram() {
    op::KernelProgram program = op::MakeKernelProgram(kAlignedCall, &op::InWords<&DescribeAligned>,
                                                      {&NotePlace<0>, &NotePlace<1>});
    program.count = &CountAligned;
    program.counters = &kAlignedCounters;
    return program;
}

struct Aligned {
    using Payload = AlignedPayload;
    static constexpr const auto& kName = kAlignedCall;
    static constexpr op::Signature<2> kTensors = {{
        {"in", op::Access::kRead, op::Only(ACL_INT64), {op::Shape::Any()}, offsetof(Payload, in)},
        {"out",
         op::Access::kWritten,
         op::Only(ACL_INT64),
         {op::Shape::Any()},
         offsetof(Payload, out)},
    }};
    static constexpr const char* kAttributes[] = {"number", "rows"};

    static op::Status Plan(const op::Request& request, int64_t number, int64_t rows,
                           op::Planned<Payload>* plan) {
        static const op::KernelProgram program = MakeAlignedProgram();
        plan->payload.number = number;
        plan->program = &program;
        plan->coreCount = request.environment.vectorCores;
        plan->rows = rows;
        return {};
    }
};

}  // namespace
}  // namespace conformance

ADVSTEP_OPERATOR(aclnnAligned, conformance::Aligned,
                 (const aclTensor* in, int64_t number, int64_t rows, aclTensor* out),
                 (in, number, rows, out))

namespace conformance {
namespace {

class OwnPayloadTest : public CaptureTest {
 protected:
    void SetUp() override {
        CaptureTest::SetUp();
        stream_ = MakeStream();
        in_ = DeviceBuffer(Values{1, 2, 3});
        out_ = DeviceBuffer(Values(3, kUnwritten));
    }
    static support::Tensor TensorOf(const DeviceBuffer& buffer) {
        return support::Tensor(support::TensorSpec{{3}, buffer.Get(), ACL_INT64});
    }
    aclOpExecutor* Plan(int64_t number, int64_t rows = 3) const {
        const support::Tensor in = TensorOf(in_), out = TensorOf(out_);
        aclOpExecutor* executor = nullptr;
        uint64_t size = 0;
        EXPECT_TRUE(IsOk(
            aclnnAlignedGetWorkspaceSize(in.Get(), number, rows, out.Get(), &size, &executor)));
        return executor;
    }
    void Launch(int64_t number, int64_t rows = 3) const {
        EXPECT_TRUE(IsOk(aclnnAligned(nullptr, 0, Plan(number, rows), stream_.Get())));
    }
    // Both phases and the count of the last run had the payload in its place.
    void ExpectInPlace(int64_t number) const {
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream_.Get())));
        EXPECT_EQ(out_.Download<int64_t>(), (Values{0, 0, number}));
        EXPECT_EQ(countedAt, 0);
        out_.Upload(Values(3, kUnwritten));
        countedAt = kUnwritten;
    }

    Stream stream_;
    DeviceBuffer in_, out_;
};

TEST_F(OwnPayloadTest, ALaunchOnOneThreadAndOneOnSeveral) {
    for (const int64_t rows : {int64_t{3}, int64_t{100000}}) {
        Launch(rows, rows);
        ExpectInPlace(rows);
    }
}

TEST_F(OwnPayloadTest, LaunchesBehindRecordsOfOtherSizes) {
    const DeviceBuffer other(Values(3, 0));
    for (int64_t number = 0; number < 8; ++number) {
        EXPECT_TRUE(IsOk(aclrtMemsetAsync(other.Get(), other.Size(), 1, 8, stream_.Get())));
        Launch(number);
        EXPECT_TRUE(IsOk(aclrtMemcpyAsync(other.Get(), other.Size(), in_.Get(), 16,
                                          ACL_MEMCPY_DEVICE_TO_DEVICE, stream_.Get())));
        Launch(number + 1);
        ExpectInPlace(number + 1);
    }
}

TEST_F(OwnPayloadTest, ARepeatableExecutor) {
    aclOpExecutor* const executor = Plan(4);
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(executor)));
    for (int run = 0; run < 3; ++run) {
        EXPECT_TRUE(IsOk(aclnnAligned(nullptr, 0, executor, stream_.Get())));
        ExpectInPlace(4);
    }
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor)));
}

TEST_F(OwnPayloadTest, AReplayAndAnUpdatedGroup) {
    aclrtTaskGrp group = nullptr;
    const Model model = Capture(stream_.Get(), [&] {
        Launch(5);
        EXPECT_TRUE(IsOk(aclmdlRICaptureTaskGrpBegin(stream_.Get())));
        Launch(6);
        EXPECT_TRUE(IsOk(aclmdlRICaptureTaskGrpEnd(stream_.Get(), &group)));
    });
    for (int run = 0; run < 2; ++run) {
        ASSERT_TRUE(IsOk(Replay(model, stream_)));
        ExpectInPlace(6);
    }
    const Stream update = MakeStream();
    EXPECT_TRUE(IsOk(aclmdlRICaptureTaskUpdateBegin(update.Get(), group)));
    EXPECT_TRUE(IsOk(aclnnAligned(nullptr, 0, Plan(7), update.Get())));
    EXPECT_TRUE(IsOk(aclmdlRICaptureTaskUpdateEnd(update.Get())));
    ASSERT_TRUE(IsOk(Replay(model, stream_)));
    ExpectInPlace(7);
}

// The other counter has a name that no call asks for.
TEST_F(OwnPayloadTest, ACounterAddsToTheOnesOfItsName) {
    ASSERT_TRUE(IsOk(advstepResetCounters(0)));
    for (int64_t number = 1; number <= 2; ++number) {
        Launch(number);
        ExpectInPlace(number);
        AdvStepCounters counters;
        ASSERT_TRUE(IsOk(advstepReadCounters(0, &counters)));
        EXPECT_EQ(counters.launches, static_cast<uint64_t>(number));
        EXPECT_EQ(counters.advanced, static_cast<uint64_t>(3 * number));
        EXPECT_EQ(counters.padded, 0U);
    }
}

TEST_F(OwnPayloadTest, TheWordsOfAFault) {
    in_.Upload(Values{-1, 2, 3});
    Launch(8);
    EXPECT_TRUE(support::IsError(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
                                 aclrtSynchronizeStream(stream_.Get()), {"misplaced by 0"}));
}

}  // namespace
}  // namespace conformance
