// SPDX-License-Identifier: Apache-2.0
// Plans and inferred shapes of operators of other libraries.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "graph/device_tensors.h"
#include "graph/tied_operator_fixture.h"

namespace {

using graphs::DeviceTensor;
using graphs::Succeeded;
using graphs::TiedOperatorTest;
using Rows = std::vector<int64_t>;

// Shapes are known before a run if all Data declare theirs, and open otherwise.
TEST_F(TiedOperatorTest, ACompiledGraphHasTheInferredShapes) {
    for (const bool isStatic : {true, false}) {
        auto read = graphs::MakeData("read", 0);
        auto state = graphs::MakeData("state", 1);
        for (auto* data : {&read, &state}) {
            if (isStatic) {
                data->update_output_desc_y(
                    ge::TensorDesc(ge::Shape({2}), ge::FORMAT_ND, ge::DT_INT64));
            }
        }
        auto mix = NewMix("mix", isStatic ? 7 : -2);  // -2: Infer fails, if it is asked
        mix.set_input_read_in(read).set_input_state(state);
        ge::Graph graph("compiled");
        graph.SetInputs({read, state}).SetOutputs(std::vector<ge::Operator>{mix});
        ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
        ASSERT_TRUE(Succeeded(Session().CompileGraph(1)));
        const auto summary = Session().GetCompiledGraphSummary(1);
        ASSERT_NE(summary, nullptr);
        ASSERT_EQ(summary->IsStatic(), isStatic);
        std::vector<ge::Shape> shapes;
        if (isStatic) {
            ASSERT_TRUE(Succeeded(summary->GetOutputShapes(shapes)));
            EXPECT_EQ(shapes[1].GetDims(), (Rows{2}));
        }
        ASSERT_TRUE(Succeeded(Session().RemoveGraph(1)));
    }
}

// Another thread gets memory after its reset, while a run is between its uploads and its operator.
TEST_F(TiedOperatorTest, ARunBesideAResetTouchesNoMemoryOfOthers) {
    const Rows values(1024, 5);
    constexpr size_t kBytes = 1024 * sizeof(int64_t);
    std::vector<void*> blocks(16);
    graphs::inPlan = [&] {
        std::thread([&] {
            ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
            ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
            ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
            for (void*& block : blocks) {
                ASSERT_EQ(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
                ASSERT_EQ(aclrtMemset(block, kBytes, 'x', kBytes), ACL_SUCCESS);
            }
        }).join();
    };
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraph(NewMix("mix"), {"read_in", "state"}))));
    const std::vector<ge::Tensor> inputs(2, graphs::MakeGraphTensor({1024}, values));
    std::vector<ge::Tensor> results;
    EXPECT_TRUE(graphs::Failed(Session().RunGraph(1, inputs, results), {"mix", "107000"}));
    EXPECT_TRUE(results.empty());
    ASSERT_TRUE(Succeeded(Session().RemoveGraph(1)));
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (void* const block : blocks) {
        std::string bytes(kBytes, ' ');
        ASSERT_EQ(aclrtMemcpy(bytes.data(), kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST),
                  ACL_SUCCESS);
        EXPECT_EQ(bytes, std::string(kBytes, 'x'));
        EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

// Each mix has two intermediate values of 2^59 bytes.
TEST_F(TiedOperatorTest, SizesOfACompiledGraphDoNotWrap) {
    const std::vector<int64_t> dims = {int64_t{1} << 56};
    for (const uint32_t mixes : {15U, 16U}) {
        auto read = graphs::MakeData("read", 0);
        auto state = graphs::MakeData("state", 1);
        for (auto* data : {&read, &state}) {
            data->update_output_desc_y(
                ge::TensorDesc(ge::Shape(dims), ge::FORMAT_ND, ge::DT_INT64));
        }
        for (uint32_t i = 0; i < mixes; ++i) {
            NewMix(std::to_string(i).c_str()).set_input_read_in(read).set_input_state(state);
        }
        ge::Graph graph("large");
        graph.SetInputs({read, state}).SetOutputs(std::vector<ge::Operator>{read});
        ASSERT_TRUE(Succeeded(Session().AddGraph(mixes, graph)));
        const ge::Status status = Session().CompileGraph(mixes);
        const auto summary = Session().GetCompiledGraphSummary(mixes);
        if (mixes == 15) {
            ASSERT_TRUE(Succeeded(status));
            size_t size = 0;
            ASSERT_TRUE(Succeeded(summary->GetFeatureMemorySize(size)));
            EXPECT_EQ(size, 30 * (size_t{1} << 59));
        } else {
            EXPECT_TRUE(graphs::Failed(status, {"E13025", "large", "2^64 bytes or more"}));
            EXPECT_EQ(summary, nullptr);
        }
    }
}

// An empty tensor may have dimensions whose product is beyond 64 bits.
TEST_F(TiedOperatorTest, InferGetsAnEmptyTensorOfLargeDimensions) {
    ASSERT_TRUE(
        Succeeded(Session().AddGraph(1, graphs::MakeGraph(NewMix("mix"), {"read_in", "state"}))));
    const int64_t large = int64_t{1} << 40;
    const ge::Tensor empty(
        ge::TensorDesc(ge::Shape({0, large, large}), ge::FORMAT_ND, ge::DT_INT64));
    EXPECT_TRUE(Succeeded(Session().BuildGraph(1, {empty, empty})));
}

// The calls themselves: a plan depends on every value of an array, and on where an array ends.
TEST_F(TiedOperatorTest, ArraysArePartsOfThePlan) {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    {
        const DeviceTensor read({1}, {1}), state({1}, {0}), sum({1}, {0});
        const int64_t shape[] = {1};
        const aclTensor* tensors[3];
        aclTensor* written[3];
        for (size_t place = 0; place < 3; ++place) {
            const DeviceTensor* const from[] = {&read, &state, &sum};
            written[place] =
                aclCreateTensor(shape, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shape, 1,
                                const_cast<uint8_t*>(from[place]->Tensor().GetData()));
            tensors[place] = written[place];
        }
        float scale = 0;
        aclScalar* const scalar = aclCreateScalar(&scale, ACL_FLOAT);
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        const auto plan = [&](const aclIntArray* ints, const aclFloatArray* reals,
                              const aclBoolArray* bools) {
            return aclnnTestMixGetWorkspaceSize(tensors[0], nullptr, written[1], 0, false, 0.0,
                                                scalar, ints, reals, bools, written[2], &size,
                                                &executor);
        };
        struct Lists {
            std::vector<int64_t> ints;
            std::vector<float> reals;
            std::vector<char> bools;
            int64_t number;
        };
        const Lists lists[] = {{{}, {}, {}, 0},           {{1}, {}, {}, 10010000},
                               {{2}, {}, {}, 10020000},   {{}, {2}, {}, 10200000},
                               {{}, {}, {1}, 11000000},   {{}, {}, {0}, 10000000},
                               {{1, 1}, {}, {}, 20020000}};
        for (int round = 0; round < 2; ++round) {
            for (const Lists& one : lists) {
                const bool bools[] = {!one.bools.empty() && one.bools[0] != 0};
                const aclIntArray* a = aclCreateIntArray(one.ints.data(), one.ints.size());
                const aclFloatArray* b = aclCreateFloatArray(one.reals.data(), one.reals.size());
                const aclBoolArray* c = aclCreateBoolArray(bools, one.bools.size());
                ASSERT_EQ(plan(a, b, c), 0) << aclGetRecentErrMsg();
                ASSERT_EQ(aclnnTestMix(nullptr, size, executor, nullptr), 0);
                ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
                EXPECT_EQ(sum.Read(), (Rows{1 + one.number}));
                if (round == 0) {
                    EXPECT_EQ(plan(nullptr, b, c), ACLNN_ERR_PARAM_NULLPTR);
                    EXPECT_STREQ(aclGetRecentErrMsg(),
                                 "aclnnTestMixGetWorkspaceSize: ints is "
                                 "null; expected an array");
                    EXPECT_EQ(plan(a, b, nullptr), ACLNN_ERR_PARAM_NULLPTR);
                    EXPECT_STREQ(aclGetRecentErrMsg(),
                                 "aclnnTestMixGetWorkspaceSize: bools is "
                                 "null; expected an array");
                }
                aclDestroyIntArray(a);
                aclDestroyFloatArray(b);
                aclDestroyBoolArray(c);
            }
        }
        aclDestroyScalar(scalar);
        for (aclTensor* tensor : written) {
            aclDestroyTensor(tensor);
        }
    }
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

}  // namespace
