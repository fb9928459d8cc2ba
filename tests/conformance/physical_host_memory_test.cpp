// SPDX-License-Identifier: Apache-2.0
// Physical memory of the host: made, mapped, used by every device, shared.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "conformance/one_query.h"
#include "conformance/virtual_memory_fixture.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace {

using conformance::kUnit;
using conformance::Property;
using namespace support;

aclrtPhysicalMemProp HostProperty(aclrtMemLocationType type, uint32_t id = 0) {
    aclrtPhysicalMemProp prop = Property();
    prop.memAttr = ACL_MEM_P2P_HUGE1G;
    prop.location = {id, type};
    return prop;
}

struct Place {
    const char* name;
    aclrtMemLocationType type;
    uint32_t id;
};

class PhysicalHostMemoryTest : public conformance::VirtualMemoryFixture,
                               public testing::WithParamInterface<Place> {
 protected:
    void SetUp() override {
        VirtualMemoryFixture::SetUp();
        const aclrtPhysicalMemProp prop = HostProperty(GetParam().type, GetParam().id);
        aclrtDrvMemHandle handle = nullptr;
        ASSERT_TRUE(IsOk(aclrtMallocPhysical(&handle, 2 * kUnit, &prop, 0)));
        memory_ = PhysicalHandle(handle);
        range_ = Reserve(2 * kUnit);
        ASSERT_TRUE(IsOk(aclrtMapMem(range_.Get(), 2 * kUnit, 0, memory_.Get(), 0)));
        mapping_ = support::Owned<&aclrtUnmapMem>(range_.Get());
    }

    Range range_;
    PhysicalHandle memory_;
    support::Owned<&aclrtUnmapMem> mapping_;  // goes first
};

TEST_P(PhysicalHostMemoryTest, SaysWhereItIs) {
    aclrtPhysicalMemProp prop{};
    ASSERT_TRUE(IsOk(aclrtMemGetAllocationPropertiesFromHandle(memory_.Get(), &prop)));
    EXPECT_EQ(prop.location.type, GetParam().type);
    EXPECT_EQ(prop.location.id, GetParam().id);
    EXPECT_EQ(prop.memAttr, ACL_MEM_P2P_HUGE1G);
    aclrtPtrAttributes attributes{};
    ASSERT_TRUE(IsOk(aclrtPointerGetAttributes(range_.At(5), &attributes)));
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    size_t granularity = 0;
    ASSERT_TRUE(IsOk(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM,
                                                      &granularity)));
    EXPECT_EQ(granularity, kUnit);
}

TEST_P(PhysicalHostMemoryTest, CountsAgainstNoDevice) {
    size_t free = 0, total = 0;
    EXPECT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
    EXPECT_EQ(free, total);
}

// As memory that is pinned and mapped by its registration.
TEST_P(PhysicalHostMemoryTest, CopiesAndFillsTakeItAsynchronously) {
    const Stream stream = support::MakeStream();
    const DeviceBuffer device(std::vector<char>(kUnit, 'd'));
    uint64_t hold = 0;
    std::memset(range_.Get(), 'h', 2 * kUnit);
    ASSERT_TRUE(IsOk(aclrtValueWait(range_.At(0), 1, ACL_STREAM_WAIT_VALUE_EQ, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(range_.At(kUnit), kUnit, device.Get(), kUnit,
                                      ACL_MEMCPY_DEVICE_TO_HOST, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtMemsetAsync(range_.At(64), 64, 'f', 64, stream.Get())));
    EXPECT_EQ(*range_.At(kUnit), 'h') << "the copy has not waited for the stream";
    hold = 1;
    std::memcpy(range_.Get(), &hold, sizeof(hold));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(*range_.At(kUnit), 'd');
    EXPECT_EQ(*range_.At(127), 'f');
    EXPECT_EQ(*range_.At(128), 'h');
}

TEST_P(PhysicalHostMemoryTest, OperatorsOfEveryDeviceTakeIt) {
    for (const int32_t device : {0, 1}) {
        ASSERT_TRUE(IsOk(aclrtSetDevice(device)));
        const std::vector<int64_t> values = conformance::OneQuery();
        std::memcpy(range_.Get(), values.data(), values.size() * sizeof(int64_t));
        EXPECT_TRUE(IsOk(conformance::AdvanceOneQuery(range_.At(0))));
        EXPECT_EQ(*reinterpret_cast<int64_t*>(range_.At(0)), 77);
    }
}

TEST_P(PhysicalHostMemoryTest, RightsBeginWithItsPlace) {
    aclrtMemLocation own{GetParam().id, GetParam().type};
    aclrtMemLocation device{0, ACL_MEM_LOCATION_TYPE_DEVICE};
    uint64_t rights = 0;
    EXPECT_TRUE(IsOk(aclrtMemGetAccess(range_.Get(), &own, &rights)));
    EXPECT_EQ(rights, static_cast<uint64_t>(ACL_RT_MEM_ACCESS_FLAGS_READWRITE));
    EXPECT_TRUE(IsOk(aclrtMemGetAccess(range_.Get(), &device, &rights)));
    EXPECT_EQ(rights, static_cast<uint64_t>(ACL_RT_MEM_ACCESS_FLAGS_NONE));
    aclrtMemAccessDesc desc{ACL_RT_MEM_ACCESS_FLAGS_READWRITE, device, {}};
    EXPECT_TRUE(IsOk(aclrtMemSetAccess(range_.Get(), 2 * kUnit, &desc, 1)));
    EXPECT_TRUE(IsOk(aclrtMemGetAccess(range_.Get(), &device, &rights)));
    EXPECT_EQ(rights, static_cast<uint64_t>(ACL_RT_MEM_ACCESS_FLAGS_READWRITE));
}

// It is no device's, so it ends with the runtime.
TEST_P(PhysicalHostMemoryTest, OutlivesTheResetOfADevice) {
    void* range = nullptr;
    ASSERT_TRUE(IsOk(aclrtResetDeviceForce(0)));
    ASSERT_TRUE(IsOk(aclrtReserveMemAddress(&range, 2 * kUnit, 0, nullptr, 1)));
    ASSERT_TRUE(IsOk(aclrtMapMem(range, 2 * kUnit, 0, memory_.Get(), 0)));
    *static_cast<char*>(range) = 'r';
    EXPECT_TRUE(IsOk(aclrtUnmapMem(range)));
    EXPECT_TRUE(IsOk(aclrtReleaseMemAddress(range)));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_HANDLE, aclrtFreePhysical(memory_.Release())));
    (void)range_.Release();
    (void)mapping_.Release();
}

INSTANTIATE_TEST_SUITE_P(Table, PhysicalHostMemoryTest,
                         testing::Values(Place{"Host", ACL_MEM_LOCATION_TYPE_HOST, 0},
                                         Place{"Numa0", ACL_MEM_LOCATION_TYPE_HOST_NUMA, 0},
                                         Place{"Numa7", ACL_MEM_LOCATION_TYPE_HOST_NUMA, 7}),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

}  // namespace
