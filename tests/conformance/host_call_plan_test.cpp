// SPDX-License-Identifier: Apache-2.0
// Registrations and plans of host operators, and what phase two refuses.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "aclnnop/aclnn_advance_step.h"
#include "advance_step/host_call.h"
#include "conformance/host_call_fixture.h"
#include "support/own_table.h"

namespace {

using namespace conformance;

class HostCallPlanTest : public HostCallTest {
 protected:
    /// Makes a plan of one tensor, or fails, with arguments that this test counts.
    aclnnStatus TryPlan(const AdvStepHostTensor& tensor, AdvStepHostPlan** plan,
                        uint64_t workspaceBytes = 0) {
        return TryPlan(std::vector<AdvStepHostTensor>{tensor}, plan, workspaceBytes);
    }
    aclnnStatus TryPlan(const std::vector<AdvStepHostTensor>& tensors, AdvStepHostPlan** plan,
                        uint64_t workspaceBytes = 0) {
        const AdvStepHostPlanRequest request{sizeof(AdvStepHostPlanRequest),
                                             static_cast<uint32_t>(tensors.size()),
                                             tensors.data(),
                                             Args(0),
                                             workspaceBytes,
                                             1};
        return advstepMakeHostPlan(Registered(kOtherTable), &request, plan);
    }
    /// The plan is refused with these words, and the arguments are released.
    void ExpectRefused(const std::vector<AdvStepHostTensor>& tensors, int code,
                       std::initializer_list<std::string> words) {
        released_ = 0;
        AdvStepHostPlan* plan = nullptr;
        EXPECT_TRUE(IsError(code, TryPlan(tensors, &plan), words));
        EXPECT_EQ(plan, nullptr);
        EXPECT_EQ(released_, 1);
    }
    static AdvStepHostTensor Described(const TensorSpec& spec, uint32_t argument = 0,
                                       int32_t member = -1) {
        static std::vector<Tensor> kept;  // views point into them
        kept.emplace_back(spec);
        return {ViewOf(kept.back().Get()), "self", ADVSTEP_READS, argument, member};
    }
    /// Runs kOtherTable's operator.
    aclnnStatus RunOther(aclOpExecutor* executor, void* workspace = nullptr, uint64_t bytes = 0,
                         aclrtStream stream = nullptr) {
        return advstepRunHostExecutor(Registered(kOtherTable), workspace, bytes, executor, stream);
    }
};

TEST_F(HostCallPlanTest, ATableIsCheckedAndRegisteredOnce) {
    EXPECT_EQ(Registered(), Registered());
    const AdvStepHostCall* call = nullptr;
    AdvStepHostCallTable table = kSumTable;
    table.interfaceVersion = 99;
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, advstepRegisterHostCall(&table, &call),
                        {"aclnnTestSum", "version 99", "expected version 1"}));
    table = kSumTable;
    table.call = "sum";
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, advstepRegisterHostCall(&table, &call),
                        {"call is sum; expected a name that begins with aclnn"}));
    table = kSumTable;
    table.run = nullptr;
    EXPECT_TRUE(
        IsError(ACLNN_ERR_PARAM_INVALID, advstepRegisterHostCall(&table, &call), {"run is null"}));
    EXPECT_TRUE(
        IsError(ACLNN_ERR_PARAM_NULLPTR, advstepRegisterHostCall(nullptr, &call), {"table"}));
    EXPECT_TRUE(
        IsError(ACLNN_ERR_PARAM_NULLPTR, advstepRegisterHostCall(&kSumTable, nullptr), {"call"}));
    EXPECT_EQ(call, nullptr);
}

TEST_F(HostCallPlanTest, ReadersRefuseNullAndDestroyedObjects) {
    const aclTensor* tensor = Tensor(TensorSpec{{2, 3}, nullptr, ACL_FLOAT}).Release();
    aclTensorList* const list = aclCreateTensorList(&tensor, 1);
    const aclTensor* const* members = nullptr;
    uint64_t count = 0;
    ASSERT_TRUE(IsOk(advstepReadTensorList(list, &members, &count)));
    ASSERT_EQ(count, 1U);
    EXPECT_EQ(members[0], tensor);
    AdvStepTensorView view{};
    ASSERT_TRUE(IsOk(advstepReadTensor(tensor, &view)));
    EXPECT_EQ(view.dims[1], 3);
    EXPECT_EQ(view.packedBytes, 24);
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, advstepReadTensor(nullptr, &view)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, advstepReadTensor(tensor, nullptr), {"view"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, advstepReadTensorList(list, nullptr, &count),
                        {"tensors"}));
    EXPECT_TRUE(IsOk(aclDestroyTensorList(list)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, advstepReadTensor(tensor, &view), {"destroyed"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, advstepReadTensorList(list, &members, &count),
                        {"list has been destroyed"}));
    float value = 1.5F;
    const aclScalar* scalar = aclCreateScalar(&value, ACL_FLOAT);
    aclScalarList* const scalars = aclCreateScalarList(&scalar, 1);
    const aclScalar* const* all = nullptr;
    ASSERT_TRUE(IsOk(advstepReadScalarList(scalars, &all, &count)));
    EXPECT_EQ(all[0], scalar);
    EXPECT_TRUE(
        IsError(ACLNN_ERR_PARAM_NULLPTR, advstepReadScalarList(scalars, &all, nullptr), {"count"}));
    EXPECT_TRUE(IsOk(aclDestroyScalarList(scalars)));
}

TEST_F(HostCallPlanTest, ShapesAndPlacesAreChecked) {
    constexpr int kInvalid = ACLNN_ERR_PARAM_INVALID;
    constexpr int64_t kFar = int64_t{1} << 60;  // elements
    ExpectRefused({Described({{-1}})}, kInvalid, {"self has shape [-1]"});
    ExpectRefused({Described({{3}, nullptr, ACL_FLOAT, {-1}})}, kInvalid, {"strides [-1]"});
    ExpectRefused({Described({{3}, nullptr, ACL_FLOAT, {1}, -1})}, kInvalid, {"offset -1"});
    ExpectRefused({Described({{3, 3}, nullptr, ACL_FLOAT, {kFar, 1}})}, kInvalid, {"fit memory"});
    ExpectRefused({Described({{3}, nullptr, ACL_STRING})}, kInvalid, {"ACL_STRING"});
    ExpectRefused({Described({{3}}, 1), Described({{3}}, 0)}, kInvalid, {"ascending"});
    ExpectRefused({Described({{3}}, 1), Described({{3}}, 1)}, kInvalid, {"ascending"});
    ExpectRefused({Described({{3}}, 0, 1), Described({{3}}, 0, 1)}, kInvalid, {"ascending"});
    ExpectRefused({Described({{3}}, 0, -2)}, kInvalid, {"member -2"});
    AdvStepHostTensor tensor = Described({{3}});
    tensor.name = nullptr;
    ExpectRefused({tensor}, ACLNN_ERR_PARAM_NULLPTR, {"the name of tensor 0"});
    tensor = Described({{3}});
    tensor.access = static_cast<AdvStepTensorAccess>(0);
    ExpectRefused({tensor}, kInvalid, {"self has access 0"});
}

TEST_F(HostCallPlanTest, ARequestIsChecked) {
    AdvStepHostPlan* plan = nullptr;
    AdvStepHostPlanRequest request{};
    EXPECT_TRUE(IsError(ACLNN_ERR_INNER, advstepMakeHostPlan(Registered(), &request, &plan),
                        {"aclnnTestSumGetWorkspaceSize: ", "structBytes"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, advstepMakeHostPlan(Registered(), nullptr, &plan),
                        {"request"}));
    EXPECT_TRUE(
        IsError(ACLNN_ERR_PARAM_NULLPTR, advstepMakeHostPlan(nullptr, &request, &plan), {"call"}));
    request.structBytes = sizeof(request);
    request.args = Args(0);
    request.tensorCount = 1;
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, advstepMakeHostPlan(Registered(), &request, &plan),
                        {"tensors"}));
    EXPECT_EQ(released_, 1);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR,
                        advstepMakeHostExecutor(nullptr, nullptr, &bytes, &executor), {"plan"}));
    advstepReleaseHostPlan(nullptr);
}

// The memory of each view fits the end of an allocation exactly, and one element more does not.
TEST_F(HostCallPlanTest, TheMemoryOfEveryViewIsChecked) {
    const DeviceBuffer buffer(512);
    struct View {
        TensorSpec spec;
        size_t bytes;  // from the start of the storage to the end of the last element
        size_t step;
    };
    const std::vector<View> views{{{{4}, nullptr, ACL_FLOAT}, 16, 4},
                                  {{{4, 3}, nullptr, ACL_FLOAT16, {1, 100}}, 408, 2},
                                  {{{4, 1000000}, nullptr, ACL_FLOAT, {1, 0}}, 16, 4},
                                  {{{2, 1}, nullptr, ACL_FLOAT, {3, -7777}}, 16, 4},
                                  {{{2, 1}, nullptr, ACL_FLOAT, {3, 5}, 6}, 40, 4},
                                  {{{}, nullptr, ACL_DOUBLE}, 8, 8},
                                  {{{7}, nullptr, ACL_INT4}, 4, 1},
                                  {{{2}, nullptr, ACL_INT4, {3}, 1}, 3, 1},
                                  {{{9}, nullptr, ACL_UINT1}, 2, 1}};
    for (size_t index = 0; index < views.size(); ++index) {
        SCOPED_TRACE(index);
        const View& view = views[index];
        AdvStepHostPlan* plan = nullptr;
        ASSERT_TRUE(IsOk(TryPlan(Described(view.spec), &plan)));
        void* address = buffer.At(512 - view.bytes);
        EXPECT_TRUE(IsOk(RunOther(Executor(plan, &address))));
        address = buffer.At(512 - view.bytes + view.step);
        EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, RunOther(Executor(plan, &address)), {"self"},
                            {107000}));
        advstepReleaseHostPlan(plan);
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
}

TEST_F(HostCallPlanTest, BadMemoryIsRefusedByName) {
    const DeviceBuffer buffer(512);
    AdvStepHostPlan* plan = nullptr;
    ASSERT_TRUE(IsOk(TryPlan(Described({{4}, nullptr, ACL_FLOAT}), &plan)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, RunOther(Executor(plan)),
                        {"aclnnTestOther: ", "self has a null address"}));
    int32_t host[4] = {};
    void* address = host;
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, RunOther(Executor(plan, &address)),
                        {"self is at", "no allocation of device 0"}, {107000}));
    address = buffer.At(2);
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, RunOther(Executor(plan, &address)),
                        {"self is at", "a multiple of 4"}, {107000}));
    {
        const DeviceBuffer freed(512);
        address = freed.Get();
    }
    EXPECT_TRUE(
        IsError(ACLNN_ERR_RUNTIME_ERROR, RunOther(Executor(plan, &address)), {"self"}, {107000}));
    advstepReleaseHostPlan(plan);
    AdvStepHostPlan* empty = nullptr;
    ASSERT_TRUE(IsOk(TryPlan(Described({{0, 5}, nullptr, ACL_FLOAT}), &empty)));
    EXPECT_TRUE(IsOk(RunOther(Executor(empty))));
    advstepReleaseHostPlan(empty);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(released_, 2);
}

TEST_F(HostCallPlanTest, TheWorkspaceIsChecked) {
    const DeviceBuffer buffer(512);
    const DeviceBuffer workspace(512);
    AdvStepHostPlan* plan = nullptr;
    ASSERT_TRUE(IsOk(TryPlan(Described({{4}, buffer.Get(), ACL_FLOAT}), &plan, 64)));
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_TRUE(IsOk(advstepMakeHostExecutor(plan, nullptr, &bytes, &executor)));
    EXPECT_EQ(bytes, 64U);
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(executor)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, RunOther(executor, nullptr, 64), {"workspace"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, RunOther(executor, workspace.Get(), 63),
                        {"workspaceSize is 63; expected at least 64"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, RunOther(executor, buffer.Get(), 64),
                        {"workspace", "overlaps self"}));
    EXPECT_TRUE(
        IsError(ACLNN_ERR_RUNTIME_ERROR, RunOther(executor, &bytes, 64), {"workspace"}, {107000}));
    EXPECT_TRUE(IsOk(RunOther(executor, workspace.Get(), 64)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor)));
    advstepReleaseHostPlan(plan);
}

TEST_F(HostCallPlanTest, ExecutorsBelongToTheirOperator) {
    const DeviceBuffer one(Values(1));
    aclOpExecutor* const sum = Sum(0, {&one}, one);
    ASSERT_TRUE(IsOk(aclSetAclOpExecutorRepeatable(sum)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, RunOther(sum),
                        {"aclnnTestOther: executor was planned for aclnnTestSum"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, aclnnAdvanceStep(nullptr, 0, sum, nullptr),
                        {"aclnnAdvanceStep: executor was planned for aclnnTestSum"}));
    const Tensor in(TensorSpec{{kCount}, one.Get()});
    const Tensor out(TensorSpec{{kCount}, out_.Get()});
    support::OwnCall kernel(in.Get(), nullptr, out.Get(), 1, kCount);
    ASSERT_TRUE(IsOk(kernel.Plan()));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, Run(kernel.executor),
                        {"aclnnTestSum: executor was planned for aclnnOwn"}));
    EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(sum)));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID, Run(sum), {"used or destroyed"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR, Run(nullptr), {"executor is null"}));
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_NULLPTR,
                        advstepRunHostExecutor(nullptr, nullptr, 0, sum, nullptr), {"call"}));
}

TEST_F(HostCallPlanTest, ARefusalHasTheNameOfPhaseOne) {
    EXPECT_TRUE(IsError(ACLNN_ERR_PARAM_INVALID,
                        advstepRefuseHostCall("aclnnNone", ACLNN_ERR_PARAM_INVALID, "self is odd"),
                        {"aclnnNoneGetWorkspaceSize: self is odd"}));
}

}  // namespace
