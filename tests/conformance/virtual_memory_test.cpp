// SPDX-License-Identifier: Apache-2.0
// Reserved addresses, physical memory and mappings: what the calls take and refuse, and mapped
// memory in use.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "conformance/one_query.h"
#include "conformance/virtual_memory_fixture.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/sanitizers.h"

namespace {

using conformance::kUnit;
using conformance::Property;
using namespace support;

class VirtualMemoryTest : public conformance::VirtualMemoryFixture {};

TEST_F(VirtualMemoryTest, GranularityIsTwoMebibytes) {
    aclrtPhysicalMemProp prop = Property();
    for (const auto option :
         {ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED}) {
        size_t granularity = 0;
        ASSERT_TRUE(IsOk(aclrtMemGetAllocationGranularity(&prop, option, &granularity)));
        EXPECT_EQ(granularity, kUnit);
    }
}

TEST_F(VirtualMemoryTest, GranularityRefusesOtherArguments) {
    aclrtPhysicalMemProp prop = Property();
    size_t granularity = 7;
    const auto minimum = ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtMemGetAllocationGranularity(nullptr, minimum, &granularity),
                        {"aclrtMemGetAllocationGranularity: ", "prop"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtMemGetAllocationGranularity(&prop, minimum, nullptr),
                        {"granularity"}));
    EXPECT_TRUE(IsError(
        ACL_ERROR_RT_PARAM_INVALID,
        aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF, &granularity),
        {"option"}));
    prop.location.id = 99;
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_DEVICEID,
                       aclrtMemGetAllocationGranularity(&prop, minimum, &granularity)));
    EXPECT_EQ(granularity, 7U);
}

TEST_F(VirtualMemoryTest, ReserveRefusesOtherArguments) {
    void* range = nullptr;
    const auto expectRefused = [&](int code, aclError status, const char* word) {
        EXPECT_TRUE(IsError(code, status, {"aclrtReserveMemAddress: ", word}));
        EXPECT_EQ(range, nullptr);
    };
    void* const odd = reinterpret_cast<void*>((uintptr_t{1} << 40) + 4096);
    expectRefused(ACL_ERROR_INVALID_PARAM, aclrtReserveMemAddress(nullptr, kUnit, 0, nullptr, 0),
                  "virPtr");
    expectRefused(ACL_ERROR_INVALID_PARAM, aclrtReserveMemAddress(&range, 0, 0, nullptr, 0),
                  "size");
    expectRefused(ACL_ERROR_RT_PARAM_INVALID, aclrtReserveMemAddress(&range, kUnit, 3, nullptr, 0),
                  "alignment");
    expectRefused(ACL_ERROR_RT_PARAM_INVALID, aclrtReserveMemAddress(&range, kUnit, 0, odd, 0),
                  "expectPtr");
    // 12 MiB begin at a multiple of 16 MiB.
    void* const uneven = reinterpret_cast<void*>((uintptr_t{1} << 40) + 4 * kUnit);
    expectRefused(ACL_ERROR_RT_PARAM_INVALID,
                  aclrtReserveMemAddress(&range, 6 * kUnit, 0, uneven, 0), "expectPtr");
    expectRefused(ACL_ERROR_INVALID_PARAM, aclrtReserveMemAddress(&range, kUnit, 0, nullptr, 2),
                  "flags");
    for (const size_t size : {size_t{1} << 60, SIZE_MAX - kUnit + 1}) {
        expectRefused(ACL_ERROR_RT_MEMORY_ALLOCATION,
                      aclrtReserveMemAddress(&range, size, 0, nullptr, 1), "size");
    }
    expectRefused(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  aclrtReserveMemAddress(&range, kUnit, size_t{1} << 63, nullptr, 0), "alignment");
}

TEST_F(VirtualMemoryTest, ReservedRangesAreAligned) {
    for (const size_t alignment : {size_t{0}, size_t{1}, size_t{4096}, kUnit, 16 * kUnit}) {
        const auto range = Reserve(3 * kUnit, alignment);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(range.Get()) % std::max(alignment, kUnit), 0U);
    }
}

TEST_F(VirtualMemoryTest, ReservedRangesBeginAtTheirSizeRoundedUp) {
    constexpr size_t kGiB = size_t{1} << 30;
    for (const auto& [size, unit] : std::vector<std::pair<size_t, size_t>>{
             {1, kUnit}, {3 * kUnit, 4 * kUnit}, {kGiB / 2 + 1, kGiB}, {3 * kGiB, kGiB}}) {
        const auto range = Reserve(size);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(range.Get()) % unit, 0U) << size;
    }
}

TEST_F(VirtualMemoryTest, ReserveTakesTheExpectedAddressIfItIsFree) {
    auto first = Reserve(4 * kUnit);
    void* const address = first.Get();
    void* other = nullptr;
    for (void* const taken : {first.Get(), static_cast<void*>(first.At(3 * kUnit))}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtReserveMemAddress(&other, kUnit, 0, taken, 0),
                            {"aclrtReserveMemAddress: ", "expectPtr", "free"}));
        EXPECT_EQ(other, nullptr);
    }
    ASSERT_TRUE(IsOk(aclrtReleaseMemAddress(first.Release())));
    void* again = nullptr;
    ASSERT_TRUE(IsOk(aclrtReserveMemAddress(&again, 4 * kUnit, 0, address, 0)));
    EXPECT_EQ(again, address);
    EXPECT_TRUE(IsOk(aclrtReleaseMemAddress(again)));
}

TEST_F(VirtualMemoryTest, ReleaseTakesReservationsWithoutMappings) {
    auto range = Reserve(2 * kUnit);
    const DeviceBuffer device(64);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtReleaseMemAddress(nullptr),
                        {"aclrtReleaseMemAddress: ", "virPtr"}));
    for (void* const wrong : {static_cast<void*>(range.At(kUnit)), device.Get()}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(wrong),
                            {"aclrtReleaseMemAddress: ", "virPtr"}));
    }
    const auto memory = Physical(kUnit);
    ASSERT_TRUE(IsOk(aclrtMapMem(range.At(kUnit), kUnit, 0, memory.Get(), 0)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(range.Get()),
                        {"virPtr", "mapped"}));
    ASSERT_TRUE(IsOk(aclrtUnmapMem(range.At(kUnit))));
    void* const address = range.Release();
    EXPECT_TRUE(IsOk(aclrtReleaseMemAddress(address)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(address)));
}

TEST_F(VirtualMemoryTest, MallocPhysicalRefusesOtherArguments) {
    aclrtDrvMemHandle handle = nullptr;
    const auto expectRefused = [&](int code, size_t size, aclrtPhysicalMemProp prop,
                                   const char* word, uint64_t flags = 0) {
        EXPECT_TRUE(IsError(code, aclrtMallocPhysical(&handle, size, &prop, flags),
                            {"aclrtMallocPhysical: ", word}));
        EXPECT_EQ(handle, nullptr);
    };
    aclrtPhysicalMemProp prop = Property();
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(nullptr, kUnit, &prop, 0),
                        {"handle"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtMallocPhysical(&handle, kUnit, nullptr, 0),
                        {"prop"}));
    expectRefused(ACL_ERROR_INVALID_PARAM, 0, prop, "size");
    expectRefused(ACL_ERROR_RT_PARAM_INVALID, kUnit - 1, prop, "size");
    expectRefused(ACL_ERROR_RT_PARAM_INVALID, kUnit, prop, "flags", 1);
    prop.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
    expectRefused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, kUnit, prop, "handleType");
    prop = Property();
    prop.handleType = static_cast<aclrtMemHandleType>(1);
    expectRefused(ACL_ERROR_RT_PARAM_INVALID, kUnit, prop, "handleType");
    prop = Property();
    prop.allocationType = static_cast<aclrtMemAllocationType>(1);
    expectRefused(ACL_ERROR_RT_PARAM_INVALID, kUnit, prop, "allocationType");
    prop = Property();
    prop.memAttr = static_cast<aclrtMemAttr>(18);
    expectRefused(ACL_ERROR_RT_PARAM_INVALID, kUnit, prop, "memAttr");
    prop = Property();
    for (const int type : {2, 3, 5, -1}) {
        prop.location.type = static_cast<aclrtMemLocationType>(type);
        expectRefused(ACL_ERROR_RT_PARAM_INVALID, kUnit, prop, "location.type");
    }
    expectRefused(ACL_ERROR_RT_INVALID_DEVICEID, kUnit, Property(2), "prop.location.id");
    expectRefused(ACL_ERROR_RT_INVALID_DEVICEID, kUnit, Property(UINT32_MAX), "prop.location.id");
}

TEST_F(VirtualMemoryTest, PhysicalMemoryCountsAgainstItsDevice) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_MEMORY", "16M"}}));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const size_t before = FreeBytes();
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    auto first = Physical(4 * kUnit, 1);
    EXPECT_EQ(FreeBytes(), before) << "of device 0";
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_EQ(FreeBytes(), before - 4 * kUnit);
    aclrtDrvMemHandle handle = nullptr;
    const aclrtPhysicalMemProp prop = Property(1);
    for (const size_t size : {5 * kUnit, size_t{1} << 60, SIZE_MAX - kUnit + 1}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_MEMORY_ALLOCATION,
                            aclrtMallocPhysical(&handle, size, &prop, 0),
                            {"aclrtMallocPhysical: ", "size"}));
    }
    void* memory = nullptr;
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_MEMORY_ALLOCATION,
                       aclrtMalloc(&memory, 5 * kUnit, ACL_MEM_MALLOC_HUGE_FIRST)));
    EXPECT_TRUE(IsOk(aclrtFreePhysical(first.Release())));
    EXPECT_EQ(FreeBytes(), before);
    auto all = Physical(8 * kUnit, 1);
    EXPECT_EQ(FreeBytes(), 0U);
}

TEST_F(VirtualMemoryTest, HandlesOfPhysicalMemoryAreRecognised) {
    const Mapped mapped(2 * kUnit);
    auto gone = Physical(kUnit);
    const support::Stream stream = support::MakeStream();
    void* const freed = gone.Get();
    ASSERT_TRUE(IsOk(aclrtFreePhysical(gone.Release())));
    const auto reused = Physical(kUnit);
    int local = 0;
    for (void* const wrong : {freed, stream.Get(), static_cast<void*>(&local)}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtFreePhysical(wrong),
                            {"aclrtFreePhysical: ", "handle"}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE,
                            aclrtMapMem(mapped.range.Get(), kUnit, 0, wrong, 0),
                            {"aclrtMapMem: ", "handle"}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtFreePhysical(nullptr), {"handle"}));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(reused.Get())));
}

TEST_F(VirtualMemoryTest, MapRefusesOtherArguments) {
    const auto range = Reserve(4 * kUnit);
    const auto memory = Physical(2 * kUnit);
    const auto expectRefused = [&](int code, void* at, size_t size, size_t offset, const char* word,
                                   uint64_t flags = 0) {
        EXPECT_TRUE(IsError(code, aclrtMapMem(at, size, offset, memory.Get(), flags),
                            {"aclrtMapMem: ", word}));
    };
    const int invalid = ACL_ERROR_RT_PARAM_INVALID;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtMapMem(range.Get(), kUnit, 0, nullptr, 0),
                        {"handle"}));
    expectRefused(ACL_ERROR_INVALID_PARAM, nullptr, kUnit, 0, "virPtr");
    expectRefused(ACL_ERROR_INVALID_PARAM, range.Get(), 0, 0, "size");
    expectRefused(invalid, range.Get(), kUnit / 2, 0, "size");
    expectRefused(invalid, range.At(4096), kUnit, 0, "virPtr");
    expectRefused(invalid, range.Get(), kUnit, 4096, "offset");
    expectRefused(invalid, range.Get(), kUnit, 0, "flags", 1);
    expectRefused(invalid, range.Get(), 3 * kUnit, 0, "size");
    expectRefused(invalid, range.Get(), 2 * kUnit, kUnit, "offset");
    expectRefused(invalid, range.Get(), kUnit, 3 * kUnit, "offset");
    expectRefused(invalid, range.Get(), kUnit, 0 - kUnit, "offset");
    expectRefused(invalid, range.At(3 * kUnit), 2 * kUnit, 0, "virPtr");
    expectRefused(invalid, reinterpret_cast<void*>(kUnit), kUnit, 0, "virPtr");
    ASSERT_TRUE(IsOk(aclrtMapMem(range.At(kUnit), 2 * kUnit, 0, memory.Get(), 0)));
    expectRefused(invalid, range.At(kUnit), kUnit, 0, "mapped");
    expectRefused(invalid, range.At(2 * kUnit), 2 * kUnit, 0, "mapped");
    expectRefused(invalid, range.Get(), 2 * kUnit, 0, "mapped");
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range.At(kUnit))));
}

TEST_F(VirtualMemoryTest, UnmapTakesTheStartOfAMappingOnly) {
    Mapped mapped(2 * kUnit);
    const DeviceBuffer device(64);
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtUnmapMem(nullptr), {"aclrtUnmapMem: ", "virPtr"}));
    for (void* const wrong : {static_cast<void*>(mapped.range.At(kUnit)), device.Get()}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(wrong),
                            {"aclrtUnmapMem: ", "virPtr"}));
    }
    void* const address = mapped.range.Get();
    mapped.Unmap();
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(address)));
}

TEST_F(VirtualMemoryTest, FreeDoesNotTakeMappedMemory) {
    const Mapped mapped(kUnit);
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(mapped.range.Get())));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeWithDevSync(mapped.range.Get())));
}

// Mapped memory in use: as device memory, under queued work, over resets and by several threads.

class VirtualMemoryUseTest : public conformance::VirtualMemoryFixture {
 protected:
    static aclError Fill(void* at, char value, size_t size) {
        return aclrtMemset(at, size, value, size);
    }
    static aclError FillAsync(void* at, char value, size_t size, const Stream& stream) {
        return aclrtMemsetAsync(at, size, value, size, stream.Get());
    }
    static void FillBehindGateAndUnmap(const HostGate& gate, const Stream& stream, Mapped* mapped) {
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(FillAsync(mapped->range.Get(), 'a', kUnit, stream)));
        mapped->Unmap();
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
    FillBehindGateAndUnmap(gate, stream, &mapped);
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
    FillBehindGateAndUnmap(gate, held, &mapped);
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

// Every mapping that the process may have, beside those that it has.
class AllMappings {
 public:
    AllMappings() {
        made_.reserve(kMost);
        for (size_t i = 0; i < kMost; ++i) {
            // The system joins neighbours of the same kind.
            void* const page = mmap(nullptr, 4096, i % 2 == 0 ? PROT_NONE : PROT_READ,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (page == MAP_FAILED) {
                full_ = true;
                return;
            }
            made_.push_back(page);
        }
    }
    ~AllMappings() {
        for (void* const page : made_) {
            munmap(page, 4096);
        }
    }
    AllMappings(const AllMappings&) = delete;
    AllMappings& operator=(const AllMappings&) = delete;
    bool full() const { return full_; }

 private:
    static constexpr size_t kMost = 70000;  // Linux allows 65530, unless vm.max_map_count says more

    std::vector<void*> made_;
    bool full_ = false;
};

TEST_F(VirtualMemoryTest, UnmapsWhereTheProcessHasAllMappings) {
    if (kAddressSanitizer || kThreadSanitizer) {
        GTEST_SKIP() << "the sanitizer needs mappings of its own";
    }
    constexpr size_t kCount = 300;
    const Range range = Reserve(kCount * kUnit);
    for (size_t i = 0; i < kCount; ++i) {
        const PhysicalHandle memory = Physical(kUnit);
        ASSERT_TRUE(IsOk(aclrtMapMem(range.At(i * kUnit), kUnit, 0, memory.Get(), 0)));
    }
    const size_t before = FreeBytes();
    int failed = 0;
    size_t free = 0, total = 0;
    bool full = false;
    {
        const AllMappings all;
        full = all.full();
        for (const size_t first : {1, 0}) {  // the middles come first
            for (size_t i = first; i < kCount; i += 2) {
                failed += aclrtUnmapMem(range.At(i * kUnit)) != ACL_SUCCESS ? 1 : 0;
            }
        }
        failed += aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) != ACL_SUCCESS ? 1 : 0;
    }
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(free, before + kCount * kUnit);
    if (!full) {
        GTEST_SKIP() << "vm.max_map_count is too large for a test";
    }
    const PhysicalHandle memory = Physical(kUnit);  // the addresses are free again
    EXPECT_TRUE(IsOk(aclrtMapMem(range.At(kUnit), kUnit, 0, memory.Get(), 0)));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range.At(kUnit))));
}

}  // namespace
