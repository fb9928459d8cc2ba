// SPDX-License-Identifier: Apache-2.0
// Reserved addresses, physical memory and mappings: what the calls take and refuse.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "conformance/virtual_memory_fixture.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace {

using conformance::kUnit;
using conformance::Property;
using support::DeviceBuffer;
using support::IsCode;
using support::IsError;
using support::IsOk;

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
    prop.location.type = ACL_MEM_LOCATION_TYPE_HOST;
    expectRefused(ACL_ERROR_RT_PARAM_INVALID, kUnit, prop, "location.type");
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

}  // namespace
