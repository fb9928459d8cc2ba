// SPDX-License-Identifier: Apache-2.0
// What an operator of one's own may have besides a table: a shorter form, Prepare, conformances.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "aclnnop/aclnn_advance_step.h"
#include "advance_step/operator.h"
#include "support/handles.h"
#include "support/own_table.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"
#include "support/tensor.h"

namespace conformance {
namespace {

namespace op = advance_step::op;

using namespace support;

using Values = std::vector<int64_t>;

// out = self, or, in the long form, out = self * scale + bias.
struct FormsPayload {
    int64_t count;
    const void* self;
    int64_t* out;
};
struct LongPayload {
    FormsPayload common;
    const int64_t* scale;
    const int64_t* bias;
};

template <typename Self>
void RunShort(const op::CoreContext& /*core*/, const void* payload) {
    const auto& p = *static_cast<const FormsPayload*>(payload);
    for (int64_t i = 0; i < p.count; ++i) {
        p.out[i] = static_cast<const Self*>(p.self)[i];
    }
}
void RunLong(const op::CoreContext& /*core*/, const void* payload) {
    const auto& p = *static_cast<const LongPayload*>(payload);
    for (int64_t i = 0; i < p.common.count; ++i) {
        p.common.out[i] = static_cast<const int64_t*>(p.common.self)[i] * p.scale[i] + p.bias[i];
    }
}

struct FormsDim {
    enum : uint8_t { kNone, kLength, kCount };
};
constexpr char kFormsCall[] = "aclnnForms";
constexpr op::Shapes kRow = {{"[n]", FormsDim::kLength}};

int shortPrepared = 0;
int longPrepared = 0;

template <typename Operator>
op::Status CheckForms(const op::Request& request, bool narrow) {
    ADVSTEP_OP_RETURN_IF_ERROR(op::CheckLayouts<Operator::kTensors>(request.views, narrow));
    op::CallDims<FormsDim::kCount> dims{};
    dims[FormsDim::kLength] = op::DimOrZero(request.views[0], 0);
    return op::CheckShapes<Operator::kTensors>(request.views, dims);
}

// Conformance vllm takes a narrow self, and no work needs no phase.
struct ShortForms {
    using Payload = FormsPayload;
    static constexpr const auto& kName = kFormsCall;
    static constexpr op::Signature<2> kTensors = {{
        {"self", op::Access::kRead, op::OrNarrow(ACL_INT64, ACL_INT32), kRow,
         offsetof(Payload, self)},
        {"out", op::Access::kWritten, op::Only(ACL_INT64), kRow, offsetof(Payload, out)},
    }};

    static const op::KernelProgram* Programs() {
        static const op::KernelProgram programs[] = {
            op::MakeKernelProgram(kFormsCall, nullptr, {&RunShort<int64_t>}),
            op::MakeKernelProgram(kFormsCall, nullptr, {&RunShort<int32_t>}),
            op::MakeKernelProgram(kFormsCall, nullptr, {})};
        return programs;
    }
    static void Prepare() {
        (void)Programs();
        ++shortPrepared;
    }
    static op::Status Plan(const op::Request& request, op::Planned<Payload>* plan) {
        const op::Environment environment(request.environment);
        ADVSTEP_OP_RETURN_IF_ERROR(
            CheckForms<ShortForms>(request, environment.conformance == op::Conformance::kVllm));
        plan->payload.count = request.views[0].dims[0];
        plan->coreCount = plan->payload.count == 0 ? 0 : 1;
        plan->program = plan->coreCount == 0                     ? Programs() + 2
                        : request.views[0].dataType == ACL_INT32 ? Programs() + 1
                                                                 : Programs();
        plan->rows = plan->payload.count;
        return {};
    }
};

struct Forms {
    using Payload = LongPayload;
    using WithFewerTensors = ShortForms;
    static constexpr const auto& kName = kFormsCall;
    static constexpr op::Signature<4> kTensors = {{
        {"self", op::Access::kRead, op::Only(ACL_INT64), kRow, offsetof(Payload, common.self)},
        {"out", op::Access::kWritten, op::Only(ACL_INT64), kRow, offsetof(Payload, common.out)},
        {"scale", op::Access::kRead, op::Only(ACL_INT64), kRow, offsetof(Payload, scale)},
        {"bias", op::Access::kRead, op::Only(ACL_INT64), kRow, offsetof(Payload, bias)},
    }};

    static void Prepare() { ++longPrepared; }
    static op::Status Plan(const op::Request& request, op::Planned<Payload>* plan) {
        static const op::KernelProgram program =
            op::MakeKernelProgram(kFormsCall, nullptr, {&RunLong});
        ADVSTEP_OP_RETURN_IF_ERROR(CheckForms<Forms>(request, false));
        plan->payload.common.count = request.views[0].dims[0];
        plan->program = &program;
        plan->rows = plan->payload.common.count;
        return {};
    }
};

// A WithFewerTensors with another tensor, or with more of them, is refused in the words of the
// header. So neither is an error of the comparison.
constexpr op::Signature<1> kOtherTensor = {
    {{"other", op::Access::kRead, op::Only(ACL_INT64), kRow, offsetof(FormsPayload, self)}}};
static_assert(op::BeginsWith(Forms::kTensors, ShortForms::kTensors));
static_assert(!op::BeginsWith(Forms::kTensors, kOtherTensor));
static_assert(!op::BeginsWith(ShortForms::kTensors, Forms::kTensors));

}  // namespace
}  // namespace conformance

ADVSTEP_OPERATOR(aclnnForms, conformance::Forms,
                 (const aclTensor* self, aclTensor* out, const aclTensor* scale,
                  const aclTensor* bias),
                 (self, out, scale, bias))

namespace conformance {
namespace {

class OwnFormsTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        DeviceTest::SetUp();
        Fill();
    }
    void Fill() {
        self_ = DeviceBuffer(Values{1, 2, 3});
        scale_ = DeviceBuffer(Values{10, 20, 30});
        bias_ = DeviceBuffer(Values{5, 6, 7});
        out_ = DeviceBuffer(Values{-1, -1, -1});
    }
    static support::Tensor TensorOf(const DeviceBuffer& buffer, int64_t count = 3,
                                    aclDataType type = ACL_INT64) {
        return support::Tensor(support::TensorSpec{{count}, buffer.Get(), type});
    }
    aclnnStatus Plan(const aclTensor* self, aclTensor* out, const aclTensor* scale,
                     const aclTensor* bias) {
        return aclnnFormsGetWorkspaceSize(self, out, scale, bias, &size_, &executor_);
    }
    Values Run() {
        EXPECT_TRUE(IsOk(aclnnForms(nullptr, size_, executor_, nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        return out_.Download<int64_t>();
    }

    uint64_t size_ = 0;
    aclOpExecutor* executor_ = nullptr;
    DeviceBuffer self_, scale_, bias_, out_;
};

TEST_F(OwnFormsTest, ACallHasTheFormOfItsTensors) {
    const auto self = TensorOf(self_), scale = TensorOf(scale_), bias = TensorOf(bias_),
               out = TensorOf(out_);
    // Each form plans anew and finds its plan again, in turns.
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(IsOk(Plan(self.Get(), out.Get(), scale.Get(), bias.Get())));
        EXPECT_EQ(Run(), (Values{15, 46, 97}));
        ASSERT_TRUE(IsOk(Plan(self.Get(), out.Get(), nullptr, nullptr)));
        EXPECT_EQ(Run(), (Values{1, 2, 3}));
    }
}

TEST_F(OwnFormsTest, ATensorThatIsLeftOutAloneIsMissing) {
    const auto self = TensorOf(self_), other = TensorOf(scale_), out = TensorOf(out_);
    EXPECT_TRUE(IsCode(ACLNN_ERR_PARAM_NULLPTR, Plan(self.Get(), out.Get(), other.Get(), nullptr)));
    EXPECT_EQ(TakeMessage().find("aclnnFormsGetWorkspaceSize: bias is null"), 0u);
    EXPECT_TRUE(IsCode(ACLNN_ERR_PARAM_NULLPTR, Plan(self.Get(), out.Get(), nullptr, other.Get())));
    EXPECT_EQ(TakeMessage().find("aclnnFormsGetWorkspaceSize: scale is null"), 0u);
    EXPECT_TRUE(IsCode(ACLNN_ERR_PARAM_NULLPTR, Plan(self.Get(), nullptr, nullptr, nullptr)));
    EXPECT_EQ(TakeMessage().find("aclnnFormsGetWorkspaceSize: out is null"), 0u);
}

TEST_F(OwnFormsTest, EachFormIsPreparedOnceAtLoad) {
    EXPECT_EQ(shortPrepared, 1);
    EXPECT_EQ(longPrepared, 1);
}

TEST_F(OwnFormsTest, NoCoresNeedNoPhases) {
    const auto self = TensorOf(self_, 0), out = TensorOf(out_, 0);
    ASSERT_TRUE(IsOk(Plan(self.Get(), out.Get(), nullptr, nullptr)));
    EXPECT_EQ(Run(), (Values{-1, -1, -1}));
}

TEST_F(OwnFormsTest, TheConformanceOfTheDeviceChoosesTheTypes) {
    const DeviceBuffer narrow(std::vector<int32_t>{7, 8, 9});
    auto self = TensorOf(narrow, 3, ACL_INT32);
    auto out = TensorOf(out_);
    EXPECT_TRUE(IsCode(ACLNN_ERR_PARAM_INVALID, Plan(self.Get(), out.Get(), nullptr, nullptr)));
    EXPECT_EQ(TakeMessage(),
              "aclnnFormsGetWorkspaceSize: self has dtype ACL_INT32; expected ACL_INT64");
}

class OwnVllmFormsTest : public OwnFormsTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", "vllm"}}));
        Fill();
    }
};

TEST_F(OwnVllmFormsTest, TakesTheNarrowType) {
    const DeviceBuffer narrow(std::vector<int32_t>{7, 8, 9});
    const auto self = TensorOf(narrow, 3, ACL_INT32), out = TensorOf(out_);
    ASSERT_TRUE(IsOk(Plan(self.Get(), out.Get(), nullptr, nullptr)));
    EXPECT_EQ(Run(), (Values{7, 8, 9}));
}

class OwnNamesTest : public support::DeviceTest {
 protected:
    void SetUp() override { ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_LOG", "warn"}})); }
};

AdvStepOperatorTable TableOf(const char* call, uint32_t tensors) {
    AdvStepOperatorTable table = support::kOwnTable;
    table.call = call;
    table.tensorCount = tensors;
    return table;
}

// Two tables of one call in one library are forms of one operator, which needs no warning.
TEST_F(OwnNamesTest, FormsOfOneLibraryAreNoSecondOperator) {
    static const AdvStepOperatorTable kTables[] = {TableOf("aclnnOwnForms", 3),
                                                   TableOf("aclnnOwnForms", 2)};
    const AdvStepOperator* ops[2] = {};
    const support::StderrCapture capture;
    ASSERT_TRUE(IsOk(advstepRegisterOperator(&kTables[0], &ops[0])));
    ASSERT_TRUE(IsOk(advstepRegisterOperator(&kTables[1], &ops[1])));
    EXPECT_NE(ops[0], ops[1]);
    EXPECT_EQ(capture.Text().find("is defined by"), std::string::npos) << capture.Text();
}

// The built-in operator has its name to itself: neither takes the plans of the other.
TEST_F(OwnNamesTest, ABuiltInOperatorRefusesThePlansOfItsNamesake) {
    static const AdvStepOperatorTable kTable = TableOf("aclnnAdvanceStep", 3);
    static const op::KernelProgram kProgram =
        op::MakeKernelProgram("aclnnAdvanceStep", nullptr, {&support::CommitOwn});
    const DeviceBuffer in(Values{1, 2, 3}), out(Values{0, 0, 0});
    const support::Tensor inTensor(support::TensorSpec{{3}, in.Get(), ACL_INT64});
    const support::Tensor outTensor(support::TensorSpec{{3}, out.Get(), ACL_INT64});
    support::OwnCall own(inTensor.Get(), nullptr, outTensor.Get(), 1, 3);
    ASSERT_TRUE(IsOk(advstepRegisterOperator(&kTable, &own.call.op)));
    own.plan.program = &kProgram;
    ASSERT_TRUE(IsOk(own.Plan()));
    EXPECT_EQ(aclnnAdvanceStep(nullptr, 0, own.executor, nullptr), ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(TakeMessage(),
              "aclnnAdvanceStep: executor was planned for the aclnnAdvanceStep of another library; "
              "expected one planned for that of this library");
    ASSERT_TRUE(IsOk(own.Plan()));
    ASSERT_TRUE(IsOk(own.Run(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(out.Download<int64_t>(), (Values{2, 3, 4}));
}

}  // namespace
}  // namespace conformance
