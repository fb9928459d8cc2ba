// SPDX-License-Identifier: Apache-2.0
// Mapped memory in use: as device memory, under queued work, over resets and by several threads.
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "acl/acl.h"
#include "conformance/one_query.h"
#include "conformance/virtual_memory_fixture.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using conformance::kUnit;
using support::HostGate;
using support::IsCode;
using support::IsError;
using support::IsOk;
using support::PinnedArray;
using support::Stream;

class VirtualMemoryUseTest : public conformance::VirtualMemoryFixture {
 protected:
    static aclError Fill(void* at, char value, size_t size) {
        return aclrtMemset(at, size, value, size);
    }
    static aclError FillAsync(void* at, char value, size_t size, const Stream& stream) {
        return aclrtMemsetAsync(at, size, value, size, stream.Get());
    }
    static char ByteAt(const void* at) {
        char value = 0;
        EXPECT_TRUE(IsOk(aclrtMemcpy(&value, 1, at, 1, ACL_MEMCPY_DEVICE_TO_HOST)));
        return value;
    }
    static aclError Map(void* at, size_t size, const PhysicalHandle& memory, size_t offset = 0) {
        return aclrtMapMem(at, size, offset, memory.Get(), 0);
    }
};

TEST_F(VirtualMemoryUseTest, MappedMemoryIsDeviceMemory) {
    const Mapped mapped(kUnit);
    const std::vector<char> pattern(1000, 'x');
    std::vector<char> result(1000);
    ASSERT_TRUE(IsOk(
        aclrtMemcpy(mapped.range.At(5), 1000, pattern.data(), 1000, ACL_MEMCPY_HOST_TO_DEVICE)));
    ASSERT_TRUE(
        IsOk(aclrtMemcpy(result.data(), 1000, mapped.range.At(5), 1000, ACL_MEMCPY_DEFAULT)));
    EXPECT_EQ(result, pattern);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Fill(mapped.range.At(kUnit - 8), 'x', 9),
                        {"aclrtMemset: "}, {9, 8}));
}

TEST_F(VirtualMemoryUseTest, WhatIsNotMappedIsNoMemory) {
    const auto range = Reserve(3 * kUnit);
    const auto memory = Physical(kUnit);
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, Fill(range.Get(), 'x', 1)));
    ASSERT_TRUE(IsOk(Map(range.At(kUnit), kUnit, memory)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, Fill(range.At(kUnit - 1), 'x', 1)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, Fill(range.At(2 * kUnit), 'x', 1)));
    EXPECT_TRUE(IsOk(Fill(range.At(kUnit), 'x', kUnit)));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range.At(kUnit))));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, Fill(range.At(kUnit), 'x', 1)));
}

// A reservation grows by mapping one piece after another; what lies across pieces is one range.
TEST_F(VirtualMemoryUseTest, NeighboursAreOneAllocation) {
    const auto range = Reserve(3 * kUnit);
    const auto first = Physical(kUnit), second = Physical(kUnit), third = Physical(kUnit);
    ASSERT_TRUE(IsOk(Map(range.Get(), kUnit, first)));
    ASSERT_TRUE(IsOk(Map(range.At(2 * kUnit), kUnit, third)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, Fill(range.Get(), 'x', 3 * kUnit)));
    ASSERT_TRUE(IsOk(Map(range.At(kUnit), kUnit, second)));
    EXPECT_TRUE(IsOk(Fill(range.Get(), 'y', 3 * kUnit)));
    EXPECT_EQ(ByteAt(range.At(3 * kUnit - 1)), 'y');
    ASSERT_TRUE(IsOk(aclrtUnmapMem(range.At(kUnit))));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, Fill(range.At(8), 'z', kUnit), {}, {kUnit, kUnit - 8}));
    EXPECT_TRUE(IsOk(Fill(range.At(2 * kUnit), 'z', kUnit)));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range.Get())));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range.At(2 * kUnit))));
}

TEST_F(VirtualMemoryUseTest, NeighboursOfTwoDevicesAreTwo) {
    const auto range = Reserve(2 * kUnit);
    const auto first = Physical(kUnit, 0), second = Physical(kUnit, 1);
    ASSERT_TRUE(IsOk(Map(range.Get(), kUnit, first)));
    ASSERT_TRUE(IsOk(Map(range.At(kUnit), kUnit, second)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, Fill(range.Get(), 'x', 2 * kUnit)));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range.Get())));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range.At(kUnit))));
}

TEST_F(VirtualMemoryUseTest, TensorsMayLieAcrossMappings) {
    const auto range = Reserve(2 * kUnit);
    const auto first = Physical(kUnit), second = Physical(kUnit);
    ASSERT_TRUE(IsOk(Map(range.Get(), kUnit, first)));
    ASSERT_TRUE(IsOk(Map(range.At(kUnit), kUnit, second)));
    std::vector<int64_t> values = conformance::OneQuery();
    char* const base = range.At(kUnit) - 5 * sizeof(int64_t);  // seqLens begins before the border
    ASSERT_TRUE(IsOk(aclrtMemcpy(base, 88, values.data(), 88, ACL_MEMCPY_HOST_TO_DEVICE)));
    EXPECT_TRUE(IsOk(conformance::AdvanceOneQuery(base)));
    ASSERT_TRUE(IsOk(aclrtMemcpy(values.data(), 88, base, 88, ACL_MEMCPY_DEVICE_TO_HOST)));
    conformance::ExpectAdvanced(values);
    ASSERT_TRUE(IsOk(aclrtUnmapMem(range.At(kUnit))));
    EXPECT_TRUE(
        IsError(ACLNN_ERR_RUNTIME_ERROR, conformance::AdvanceOneQuery(base), {"sampledTokenIds"}));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range.Get())));
}

TEST_F(VirtualMemoryUseTest, OneMemoryAtTwoAddresses) {
    const auto range = Reserve(4 * kUnit);
    const auto memory = Physical(2 * kUnit);
    ASSERT_TRUE(IsOk(Map(range.Get(), 2 * kUnit, memory)));
    ASSERT_TRUE(IsOk(Map(range.At(3 * kUnit), kUnit, memory, kUnit)));
    ASSERT_TRUE(IsOk(Fill(range.Get(), 'a', 2 * kUnit)));
    ASSERT_TRUE(IsOk(Fill(range.At(3 * kUnit), 'b', kUnit)));
    EXPECT_EQ(ByteAt(range.At(kUnit - 1)), 'a');
    EXPECT_EQ(ByteAt(range.At(kUnit)), 'b') << "the second unit of the memory";
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range.Get())));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range.At(3 * kUnit))));
}

TEST_F(VirtualMemoryUseTest, ContentsStayWhileTheHandleLives) {
    const auto range = Reserve(2 * kUnit);
    const auto memory = Physical(kUnit);
    ASSERT_TRUE(IsOk(Map(range.Get(), kUnit, memory)));
    ASSERT_TRUE(IsOk(Fill(range.Get(), 'a', kUnit)));
    ASSERT_TRUE(IsOk(aclrtUnmapMem(range.Get())));
    ASSERT_TRUE(IsOk(Map(range.At(kUnit), kUnit, memory)));
    EXPECT_EQ(ByteAt(range.At(2 * kUnit - 1)), 'a');
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range.At(kUnit))));
}

TEST_F(VirtualMemoryUseTest, MemoryStaysUntilItsLastMappingGoes) {
    const size_t before = FreeBytes();
    Mapped mapped(kUnit);
    ASSERT_TRUE(IsOk(aclrtFreePhysical(mapped.memory.Release())));
    EXPECT_EQ(FreeBytes(), before - kUnit);
    EXPECT_TRUE(IsOk(Fill(mapped.range.Get(), 'a', kUnit)));
    EXPECT_EQ(ByteAt(mapped.range.At(kUnit - 1)), 'a');
    mapped.Unmap();
    EXPECT_EQ(FreeBytes(), before);
}

TEST_F(VirtualMemoryUseTest, UnmapWhileQueuedWorkUsesTheMemory) {
    const size_t before = FreeBytes();
    const PinnedArray<char> result(kUnit);
    Mapped mapped(kUnit);
    const Stream stream = support::MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(FillAsync(mapped.range.Get(), 'a', kUnit, stream)));
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(result.Get(), kUnit, mapped.range.Get(), kUnit,
                                      ACL_MEMCPY_DEVICE_TO_HOST, stream.Get())));
    void* const address = mapped.range.Get();
    mapped.Unmap();
    ASSERT_TRUE(IsOk(aclrtFreePhysical(mapped.memory.Release())));
    ASSERT_TRUE(IsOk(aclrtReleaseMemAddress(mapped.range.Release())));
    EXPECT_EQ(FreeBytes(), before - kUnit) << "work still uses it";
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, Fill(address, 'x', 1)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(address)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(address)));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(result.Values(), std::vector<char>(kUnit, 'a'));
    EXPECT_EQ(FreeBytes(), before);
}

TEST_F(VirtualMemoryUseTest, MapWaitsForWorkOfBeforeTheUnmap) {
    Mapped mapped(kUnit);
    const auto other = Reserve(kUnit);
    ASSERT_TRUE(IsOk(Map(other.Get(), kUnit, mapped.memory)));
    const auto next = Physical(kUnit);
    const Stream stream = support::MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(FillAsync(mapped.range.Get(), 'a', kUnit, stream)));
    mapped.Unmap();
    const support::Signal begun;
    std::thread opener([&] {
        EXPECT_TRUE(begun.Wait());
        gate.Open();
    });
    begun.Set();
    ASSERT_TRUE(IsOk(Map(mapped.range.Get(), kUnit, next)));
    mapped.mapping = support::Owned<&aclrtUnmapMem>(mapped.range.Get());
    opener.join();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(ByteAt(other.At(kUnit - 1)), 'a') << "the old memory";
    EXPECT_EQ(ByteAt(mapped.range.At(kUnit - 1)), 0) << "the new memory";
    EXPECT_TRUE(IsOk(aclrtUnmapMem(other.Get())));
}

TEST_F(VirtualMemoryUseTest, MapInsideAHostFunctionWaitsForNothing) {
    Mapped mapped(kUnit);
    const auto range = Reserve(kUnit);
    const auto memory = Physical(kUnit);
    const Stream held = support::MakeStream();
    const HostGate gate(held.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(FillAsync(mapped.range.Get(), 'a', kUnit, held)));
    mapped.Unmap();
    aclError waits = ACL_SUCCESS, doesNot = ACL_ERROR_FAILURE;
    ASSERT_TRUE(IsOk(support::Enqueue(nullptr, [&] {
        waits = Map(mapped.range.Get(), kUnit, memory);
        doesNot = Map(range.Get(), kUnit, memory);
    })));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(waits, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(doesNot, ACL_SUCCESS);
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range.Get())));
}

TEST_F(VirtualMemoryUseTest, AResetTakesWhatIsOfItsDevice) {
    const auto range = Reserve(2 * kUnit);  // of device 0
    const auto mine = Physical(kUnit, 0), others = Physical(kUnit, 1);
    ASSERT_TRUE(IsOk(Map(range.Get(), kUnit, mine)));
    ASSERT_TRUE(IsOk(Map(range.At(kUnit), kUnit, others)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const size_t before = FreeBytes();
    ASSERT_TRUE(IsOk(aclrtResetDevice(1)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_EQ(FreeBytes(), before + kUnit);
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_HANDLE, aclrtFreePhysical(others.Get())));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(range.At(kUnit))));
    EXPECT_TRUE(IsOk(Fill(range.Get(), 'a', kUnit)));
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_HANDLE, aclrtFreePhysical(mine.Get())));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(range.Get())));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(range.Get())));
}

TEST_F(VirtualMemoryUseTest, AResetTakesMappingsInItsReservations) {
    const auto range = Reserve(kUnit);  // of device 0
    const auto others = Physical(kUnit, 1);
    ASSERT_TRUE(IsOk(Map(range.Get(), kUnit, others)));
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, Fill(range.Get(), 'a', 1)));
    const auto again = Reserve(kUnit);
    ASSERT_TRUE(IsOk(Map(again.Get(), kUnit, others))) << "its memory stays";
    EXPECT_TRUE(IsOk(aclrtUnmapMem(again.Get())));
}

TEST_F(VirtualMemoryUseTest, TheEndTakesEverything) {
    const auto range = Reserve(kUnit);
    const auto memory = Physical(kUnit);
    ASSERT_TRUE(IsOk(Map(range.Get(), kUnit, memory)));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(range.Get())));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_HANDLE, aclrtFreePhysical(memory.Get())));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(range.Get())));
}

// Each thread swaps the memory behind its own range, in one reservation, under its queued work.
TEST_F(VirtualMemoryUseTest, ThreadsMapUnmapAndFreeUnderQueuedWork) {
    constexpr int kThreads = 4, kRounds = 30;
    const size_t before = FreeBytes();
    const auto range = Reserve(kThreads * kUnit);
    const aclrtContext context = support::CurrentContext();
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            const Stream stream = support::MakeStream();
            const PinnedArray<char> result(kRounds);
            char* const at = range.At(t * kUnit);
            for (int round = 0; round < kRounds; ++round) {
                auto memory = Physical(kUnit);
                ASSERT_TRUE(IsOk(Map(at, kUnit, memory)));
                ASSERT_TRUE(IsOk(aclrtFreePhysical(memory.Release())));
                ASSERT_TRUE(IsOk(FillAsync(at, static_cast<char>(round), 4096, stream)));
                ASSERT_TRUE(IsOk(aclrtMemcpyAsync(result.Get() + round, 1, at + 4095, 1,
                                                  ACL_MEMCPY_DEVICE_TO_HOST, stream.Get())));
                ASSERT_TRUE(IsOk(aclrtUnmapMem(at)));
            }
            ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
            for (int round = 0; round < kRounds; ++round) {
                ASSERT_EQ(result[round], static_cast<char>(round));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(FreeBytes(), before);
}

}  // namespace
