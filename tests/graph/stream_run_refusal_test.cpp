// SPDX-License-Identifier: Apache-2.0
// Runs on streams that fail or are refused.
#include <gtest/gtest.h>

#include <thread>

#include <cstdint>
#include <vector>

#include "graph/stream_run_fixture.h"

namespace {

using namespace graphs;

TEST_F(StreamRunTest, AFailureOnTheDeviceIsTheStreams) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graphs::MakeDecodeGraph(data_))));
    memory_[5]->Write(std::vector<int64_t>(16, -1));
    ASSERT_TRUE(Succeeded(Run(1, {memory_[1]->Tensor(), memory_[5]->Tensor()}, {})));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(StateOf(Session()), OutputsOf(data_));
}

TEST_F(StreamRunTest, Refusals) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraph<ge::op::Data>())));
    const Tensors in = Of(memory_);
    const Tensors out = Of(results_);
    EXPECT_TRUE(Failed(Run(9, in, out), {"E10062"}, 1343242242));
    EXPECT_TRUE(Failed(Run(1, {}, out), {"E13025", "0 tensors"}));
    EXPECT_TRUE(Failed(Run(1, in, {}), {"E13025", "outputs has 0 tensors", "4 outputs"}));
    Tensors bad = in;
    bad[3] = graphs::TensorsOf(data_)[3];
    EXPECT_TRUE(Failed(Run(1, bad, out), {"E13025", "inputs[3]", "device memory"}));
    bad = out;
    bad[1] = graphs::MakeGraphTensor({4}, {1, 2, 3, 4});
    EXPECT_TRUE(Failed(Run(1, in, bad), {"E13025", "outputs[1]", "device memory"}));
    bad = out;
    const DeviceTensor small({3}, {1, 2, 3});
    bad[2] = small.Tensor();
    EXPECT_TRUE(Failed(Run(1, in, bad), {"E13025", "outputs[2]", "24 bytes", "at least 32"}));
    bad = out;
    const DeviceTensor more({8}, {1, 2, 3, 4, 5, 6, 7, 8});
    uint8_t* const middle = const_cast<uint8_t*>(more.Tensor().GetData()) + 32;
    ge::Tensor endless(more.Tensor().GetTensorDesc());  // its last byte comes before its first
    ASSERT_EQ(endless.SetData(middle, SIZE_MAX, [](uint8_t*) {}), ge::GRAPH_SUCCESS);
    bad[2] = endless;
    EXPECT_TRUE(Failed(Run(1, in, bad), {"E13025", "outputs[2]", "device memory"}));
    bad = out;
    bad[2] = bad[1];
    EXPECT_TRUE(Failed(Run(1, in, bad), {"E13025", "outputs[2]", "overlaps outputs[1]"}));
    bad = out;
    bad[2] = in[2];
    EXPECT_TRUE(Failed(Run(1, in, bad), {"E13025", "outputs[2]", "overlaps inputs[2]"}));
    bad = in;
    bad[1] = memory_[0]->Tensor();
    EXPECT_TRUE(Failed(Run(1, bad, out), {"561002", "sampledTokenIds"}));
    std::thread([&] {  // without a context, even the default stream is none
        Tensors own = out;
        EXPECT_TRUE(Failed(Session().RunGraphWithStreamAsync(1, nullptr, in, own), {"107002"}));
    })
        .join();
    Tensors same = out;
    EXPECT_TRUE(Failed(
        Session().RunGraphWithStreamAsync(1, reinterpret_cast<void*>(0x55), in, same), {"107017"}));
    Synchronize();
    for (const auto& result : results_) {
        EXPECT_EQ(result->Read(), (std::vector<int64_t>{-7, -7, -7, -7}));
    }
    EXPECT_TRUE(Succeeded(Run(1, in, out)));
    Synchronize();
}

ge::Tensor PartOf(const DeviceTensor& whole, size_t first, const std::vector<int64_t>& dims) {
    const ge::TensorDesc desc(ge::Shape(dims), ge::FORMAT_ND, ge::DT_INT64);
    ge::Tensor part(desc);
    const size_t bytes = static_cast<size_t>(ge::Shape(dims).GetShapeSize()) * sizeof(int64_t);
    const ge::Tensor tensor = whole.Tensor();
    uint8_t* const data = const_cast<uint8_t*>(tensor.GetData()) + first * sizeof(int64_t);
    EXPECT_EQ(part.SetData(data, bytes, [](uint8_t*) {}), ge::GRAPH_SUCCESS);
    return part;
}

// An update would change what other inputs read, or update, by another address.
TEST_F(StreamRunTest, UpdatedStateOverlapsNoOtherInput) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraph<ge::op::RefData>())));
    const DeviceTensor whole({8}, {101, 102, 103, 5, 8, 12, 0, 0});
    Tensors bad = Of(memory_);
    bad[1] = PartOf(whole, 0, {3, 1});
    bad[3] = PartOf(whole, 2, {4});
    EXPECT_TRUE(Failed(Run(1, bad, Of(results_)),
                       {"E13025", "inputs[3]", "is updated", "overlaps inputs[1]"}));
    bad[1] = memory_[1]->Tensor();
    bad[2] = bad[3];
    EXPECT_TRUE(Failed(Run(1, bad, Of(results_)),
                       {"E13025", "inputs[2]", "is updated", "overlaps inputs[3]"}));
    EXPECT_EQ(whole.Read(), (std::vector<int64_t>{101, 102, 103, 5, 8, 12, 0, 0}));
    // One that is only read, at the same address, is saved before the update.
    Tensors good = Of(memory_);
    good[1] = PartOf(whole, 0, {3, 1});
    good[4] = PartOf(whole, 0, {4});
    ASSERT_TRUE(Succeeded(Run(1, good, Of(results_))));
    Synchronize();
    EXPECT_EQ(results_[0]->Read(), (std::vector<int64_t>{101, 102, 103, 0}));
    EXPECT_EQ(results_[3]->Read(), graphs::Advanced(data_).slotMapping);
}

// Memory that is gone is found before anything is queued.
TEST_F(StreamRunTest, FreedMemoryIsRefused) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graphs::MakeDecodeGraph(data_))));
    const Tensors in = {memory_[1]->Tensor(), memory_[5]->Tensor()};
    ASSERT_TRUE(Succeeded(Run(1, in, {})));
    Synchronize();
    memory_.pop_back();
    EXPECT_TRUE(Failed(Run(1, in, {}), {"E13025", "inputs[1]", "device memory"}));
}

}  // namespace
