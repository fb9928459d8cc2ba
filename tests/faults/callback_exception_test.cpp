// SPDX-License-Identifier: Apache-2.0
// Exceptions and pthread_exit of users' functions stay inside the call, and the thread continues.
#include <pthread.h>

#include <stdexcept>
#include <string>

#include "advance_step/host_operator.h"
#include "advance_step/operator.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"
#include "support/tensor.h"
#include "support/threads.h"

namespace {

namespace op = advance_step::op;

using namespace support;

// An operator whose functions do what a test wants.
void (*inPlan)() = [] {};
void (*inDescribe)() = [] {};

struct LeavingPayload {
    const int64_t* in;
};
struct Leaving {
    using Payload = LeavingPayload;
    static constexpr const char kName[] = "aclnnTestLeaving";
    static constexpr op::Shapes kAny = {{"[]", 0}};
    static constexpr op::Signature<1> kTensors = {
        {{"in", op::Access::kRead, op::Only(ACL_INT64), kAny, offsetof(Payload, in)}}};

    static op::FaultReport Describe(const op::Fault& /*fault*/, const void* /*payload*/) {
        inDescribe();
        return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "described"};
    }
    static op::Status Plan(const op::Request& /*request*/, op::Planned<Payload>* plan) {
        inPlan();
        static const op::KernelProgram program = op::MakeKernelProgram(
            kName, &op::InWords<&Describe>,
            {[](const op::CoreContext& core, const void*) { core.Report(0, 1, {}); }});
        plan->program = &program;
        plan->coreCount = 1;
        plan->rows = 1;
        return {};
    }
};

}  // namespace

ADVSTEP_OPERATOR(aclnnTestLeaving, Leaving, (const aclTensor* in), (in))

namespace {

enum class Way { kStandard, kOther, kThreadExit };

void PrintTo(Way way, std::ostream* out) {
    *out << (way == Way::kStandard ? "Standard" : way == Way::kOther ? "Other" : "ThreadExit");
}

class CallbackExceptionTest : public support::DeviceTest, public testing::WithParamInterface<Way> {
 protected:
    static inline Way way = Way::kStandard;
    void SetUp() override {
        DeviceTest::SetUp();
        way = GetParam();
    }
    static void Throw() {
        if (way == Way::kStandard) {
            throw std::runtime_error("thrown by a test");
        }
        if (way == Way::kThreadExit) {
            pthread_exit(nullptr);
        }
        throw 5;
    }
    static const char* Words() {
        return way == Way::kStandard ? "thrown by a test"
               : way == Way::kOther  ? "not a std::exception"
                                     : "pthread_exit";
    }
    // Work of the stream is run, here and in the background.
    static void ExpectWorks(aclrtStream stream) {
        const support::Signal ran;
        EXPECT_TRUE(IsOk(support::Enqueue(stream, [ran] { ran.Set(); })));
        EXPECT_TRUE(ran.Wait());
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream)));
    }
};
INSTANTIATE_TEST_SUITE_P(Kinds, CallbackExceptionTest,
                         testing::Values(Way::kStandard, Way::kOther, Way::kThreadExit),
                         testing::PrintToStringParamName());

TEST_P(CallbackExceptionTest, HostFunctionInAWorker) {
    const Stream stream = MakeStream();
    const support::Signal thrown;
    EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [thrown] {
        thrown.Set();
        Throw();
    })));
    ASSERT_TRUE(thrown.Wait()) << "nobody synchronises";
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get()), {Words()}));
    ExpectWorks(stream.Get());
}

TEST_P(CallbackExceptionTest, HostFunctionInAReplay) {
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_RELAXED)));
    EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [] { Throw(); })));
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclmdlRIExecute(model, -1), {Words()}));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
    ExpectWorks(stream.Get());
}

TEST_P(CallbackExceptionTest, CallbackOfAThread) {
    const Stream stream = MakeStream();
    const auto self = static_cast<uint64_t>(pthread_self());
    ASSERT_TRUE(IsOk(aclrtSubscribeReport(self, stream.Get())));
    ASSERT_TRUE(IsOk(
        aclrtLaunchCallback([](void*) { Throw(); }, nullptr, ACL_CALLBACK_BLOCK, stream.Get())));
    EXPECT_EQ(aclrtProcessReport(30000), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "the stream goes on";
    ExpectWorks(stream.Get());
    EXPECT_TRUE(IsOk(aclrtUnSubscribeReport(self, stream.Get())));
}

TEST_P(CallbackExceptionTest, ExceptionCallback) {
    const support::StderrCapture log;
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo*) { Throw(); })));
    EXPECT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
    EXPECT_EQ(aclrtSynchronizeStream(stream.Get()), ACL_ERROR_FAILURE);
    EXPECT_TRUE(IsOk(aclrtSetExceptionInfoCallback(nullptr)));
    EXPECT_NE(log.Text().find(Words()), std::string::npos) << log.Text();
    ExpectWorks(stream.Get());
}

TEST_P(CallbackExceptionTest, StreamStateCallback) {
    const support::StderrCapture log;
    ASSERT_TRUE(IsOk(aclrtRegStreamStateCallback(
        "test", [](aclrtStream, aclrtStreamState, void*) { Throw(); }, nullptr)));
    {
        const Stream stream = MakeStream();
        ExpectWorks(stream.Get());
    }
    EXPECT_TRUE(IsOk(aclrtRegStreamStateCallback("test", nullptr, nullptr)));
    EXPECT_NE(log.Text().find(Words()), std::string::npos) << log.Text();
}

TEST_P(CallbackExceptionTest, HostFunctionInTheSynchronisingThread) {
    const Stream stream = MakeStream();
    for (int time = 0; time < 20; ++time) {  // a worker may be faster now and then
        EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [] { Throw(); })));
        EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get()), {Words()}));
    }
    ExpectWorks(stream.Get());
}

TEST_P(CallbackExceptionTest, HostOperator) {
    static int released = 0;
    released = 0;
    AdvStepHostOperator operation{};
    operation.name = "throws";
    operation.run = [](void*, char*, uint64_t) -> int32_t {
        Throw();
        return 0;
    };
    operation.release = [](void*) {
        ++released;
        Throw();
    };
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(advstepLaunchHostOperator(stream.Get(), &operation)));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get()), {Words()}));
    EXPECT_EQ(released, 1);
    ExpectWorks(stream.Get());
}

// One call of the operator. No other has a tensor of that length, so none finds its plan.
struct LeavingCall {
    static inline int64_t length = 0;

    aclnnStatus Plan() { return aclnnTestLeavingGetWorkspaceSize(in.Get(), &size, &executor); }

    support::DeviceBuffer memory{std::vector<int64_t>(static_cast<size_t>(++length), 1)};
    support::Tensor in{support::TensorSpec{{length}, memory.Get(), ACL_INT64}};
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
};

TEST_P(CallbackExceptionTest, PlanOfAnOperator) {
    LeavingCall call;
    inPlan = &Throw;
    EXPECT_TRUE(IsCode(ACLNN_ERR_INNER, call.Plan()));
    const std::string words = way == Way::kOther ? "unknown exception" : Words();
    const std::string message = support::TakeMessage();
    EXPECT_EQ(message.find("aclnnTestLeavingGetWorkspaceSize: "), 0U) << message;
    EXPECT_NE(message.find(words), std::string::npos) << message;
    inPlan = [] {};
    EXPECT_TRUE(IsOk(call.Plan()));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(call.executor)));
}

TEST_P(CallbackExceptionTest, WordsOfAFault) {
    LeavingCall call;
    inDescribe = &Throw;
    const Stream stream = MakeStream();
    EXPECT_TRUE(IsOk(call.Plan()));
    EXPECT_TRUE(IsOk(aclnnTestLeaving(nullptr, call.size, call.executor, stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get()), {Words()}));
    inDescribe = [] {};
    ExpectWorks(stream.Get());
}

// A cancellation takes effect after the call, though the function Plan has a cancellation point.
using CancelledPlanTest = support::DeviceTest;
TEST_F(CancelledPlanTest, EndsAsUsual) {
    LeavingCall call;
    inPlan = [] { pthread_testcancel(); };
    const aclrtContext context = support::CurrentContext();
    support::OnACancelledThread([&] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        EXPECT_TRUE(IsOk(call.Plan()));
    });
    inPlan = [] {};
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(call.executor)));
}

}  // namespace
