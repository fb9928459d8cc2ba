// SPDX-License-Identifier: Apache-2.0
// AdvanceStep on tensors of every accepted shape, dtype and layout, and in stream order.
#include <gtest/gtest.h>

#include <thread>

#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using namespace support;

struct LayoutCase {
    std::string name;
    OpLayout layout;
};

std::vector<LayoutCase> Layouts() {
    std::vector<LayoutCase> cases;
    for (const bool columns : {false, true}) {
        for (const int64_t rowStride : {0, 8, 100}) {
            for (const int64_t viewOffset : {0, 1, 37}) {
                OpLayout layout;
                layout.columns = columns;
                layout.rowStride = rowStride;
                layout.viewOffset = viewOffset;
                const std::string name = std::string(columns ? "Column" : "Vector") + "Stride" +
                                         std::to_string(rowStride) + "Offset" +
                                         std::to_string(viewOffset);
                cases.push_back({name, layout});
                layout.tables = ACL_INT32;
                cases.push_back({name + "Int32Table", layout});
            }
        }
    }
    return cases;
}

class LayoutTest : public support::DeviceTest, public testing::WithParamInterface<LayoutCase> {
 protected:
    static void ExpectRuns(const reference::AdvanceStepData& data,
                           const reference::AdvanceStepData& expected) {
        AdvanceStepBatch batch(data, GetParam().layout);
        ASSERT_TRUE(IsOk(batch.Run(nullptr)));
        EXPECT_TRUE(batch.Holds(expected));
    }
};

TEST_P(LayoutTest, Standard) {
    for (const int64_t blockSize : {1, 16, 31}) {
        const auto data = MakeBatch(150, 130, blockSize, 7, 3);
        ExpectRuns(data, Advanced(data));
    }
}

TEST_P(LayoutTest, Exact) {
    ASSERT_NO_FATAL_FAILURE(
        Restart({{"ADVANCE_STEP_CONFORMANCE", "exact"}, {"ADVANCE_STEP_SOC", "Ascend910B1"}}));
    const auto data = MakeBatch(150, 60, 16, 7, 4);
    ExpectRuns(data, support::AdvancedExactly(data, 48));
}

INSTANTIATE_TEST_SUITE_P(Table, LayoutTest, testing::ValuesIn(Layouts()), support::CaseName());

class VllmTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", "vllm"}}));
    }
};

TEST_F(VllmTest, DtypesAreIndependent) {
    for (int bits = 0; bits < 8; ++bits) {
        for (const int64_t queries : {100, 120}) {
            OpLayout layout =
                support::Int32Layout((bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0);
            layout.viewOffset = bits;
            layout.rowStride = 9;
            AdvanceStepBatch batch(MakeBatch(120, queries, 16, 9, 7), layout);
            ASSERT_TRUE(IsOk(batch.Run(nullptr))) << bits;
            EXPECT_TRUE(batch.Holds(Advanced(batch.Data()))) << bits << " " << queries;
        }
    }
}

TEST_F(VllmTest, OneSequenceWithoutPadding) {
    AdvanceStepBatch batch(MakeBatch(1, 1, 16, 2, 7));
    ASSERT_TRUE(IsOk(batch.Run(nullptr)));
    EXPECT_TRUE(batch.Holds(Advanced(batch.Data())));
}

class StreamOrderTest : public support::DeviceTest {};

TEST_F(StreamOrderTest, PhaseTwoReturnsBeforeTheRun) {
    const support::Stream stream = support::MakeStream();
    AdvanceStepBatch batch(MakeBatch(9, 6, 4, 5, 1));
    ASSERT_TRUE(IsOk(batch.Plan()));
    const support::HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
    EXPECT_TRUE(batch.IsUntouched());
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(batch.Holds(Advanced(batch.Data())));
}

TEST_F(StreamOrderTest, RunsWithoutSynchronisation) {
    const support::Stream stream = support::MakeStream();
    const support::Recorder recorder;
    AdvanceStepBatch batch(MakeBatch(9, 6, 4, 5, 1));
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(recorder.WaitFor(1));
    EXPECT_TRUE(batch.Holds(Advanced(batch.Data())));
}

TEST_F(StreamOrderTest, DataNeedsToExistAtTheRunOnly) {
    const support::Stream stream = support::MakeStream();
    reference::AdvanceStepData data = MakeBatch(9, 6, 4, 5, 1);
    const std::vector<int64_t> lengths = data.seqLens;
    data.seqLens.assign(9, -1);  // would be an error
    AdvanceStepBatch batch(data);
    ASSERT_TRUE(IsOk(batch.Plan()));
    const support::PinnedArray<int64_t> upload(9), tokens(9);
    std::copy(lengths.begin(), lengths.end(), upload.Get());
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(batch.Address(kSeqLens), 72, upload.Get(), 72,
                                      ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
    ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(tokens.Get(), 72, batch.Address(support::kInputTokens), 72,
                                      ACL_MEMCPY_DEVICE_TO_HOST, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    data.seqLens = lengths;
    data = Advanced(data);
    EXPECT_TRUE(batch.Holds(data));
    EXPECT_EQ(tokens.Values(), data.inputTokens);
}

TEST_F(StreamOrderTest, MemoryMayBeFreedWhileTheRunIsQueued) {
    const support::Stream stream = support::MakeStream();
    const support::PinnedArray<int64_t> slots(900);
    AdvanceStepBatch batch(MakeBatch(900, 600, 4, 5, 1));
    {
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(batch.Plan()));
        ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
        ASSERT_TRUE(IsOk(aclrtMemcpyAsync(slots.Get(), slots.Bytes(), batch.Address(kSlotMapping),
                                          slots.Bytes(), ACL_MEMCPY_DEVICE_TO_HOST, stream.Get())));
        for (size_t i = 0; i < 6; ++i) {
            batch.FreeMemory(i);
        }
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(slots.Values(), Advanced(batch.Data()).slotMapping);
}

TEST_F(StreamOrderTest, DefaultStreamAndSecondDevice) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    AdvanceStepBatch batch(MakeBatch(9, 6, 4, 5, 1));
    ASSERT_TRUE(IsOk(batch.Run(nullptr)));
    EXPECT_TRUE(batch.Holds(Advanced(batch.Data())));
}

TEST_F(StreamOrderTest, ThreadsRunTheirOwnBatches) {
    const aclrtContext context = support::CurrentContext();
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([context, t] {
            ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            const support::Stream stream = support::MakeStream();
            for (uint64_t i = 0; i < 30; ++i) {
                AdvanceStepBatch batch(MakeBatch(200 + 10 * i, 150, 16, 6, 100 * t + i));
                ASSERT_TRUE(IsOk(batch.Run(stream.Get())));
                ASSERT_TRUE(batch.Holds(Advanced(batch.Data())));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

// One stream, many decode steps, every step planned anew.
TEST_F(StreamOrderTest, StepsFollowEachOther) {
    const support::Stream stream = support::MakeStream();
    reference::AdvanceStepData data = MakeBatch(64, 50, 8, 30, 9);
    for (int64_t& length : data.seqLens) {
        length %= 20;
    }
    AdvanceStepBatch batch(data);
    for (int step = 0; step < 200; ++step) {
        ASSERT_TRUE(IsOk(batch.Plan()));
        ASSERT_TRUE(IsOk(batch.Launch(stream.Get())));
        data = Advanced(data);
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(batch.Holds(data));
}

}  // namespace
