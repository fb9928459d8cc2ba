// SPDX-License-Identifier: Apache-2.0
// aclrtPointerGetAttributes: what an address lies in.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/page_vector.h"
#include "support/runtime_test.h"

namespace {

using namespace support;

constexpr size_t kLargePage = size_t{2} << 20;

uint32_t HostPage() { return static_cast<uint32_t>(sysconf(_SC_PAGESIZE)); }

class PointerAttributesTest : public support::DeviceTest {
 protected:
    static void Expect(const void* ptr, aclrtMemLocationType type, uint32_t id, uint32_t pageSize) {
        aclrtPtrAttributes attributes;
        std::memset(&attributes, 0x5a, sizeof(attributes));
        ASSERT_TRUE(IsOk(aclrtPointerGetAttributes(ptr, &attributes)));
        EXPECT_EQ(attributes.location.type, type);
        EXPECT_EQ(attributes.location.id, id);
        EXPECT_EQ(attributes.pageSize, pageSize);
        EXPECT_TRUE(std::all_of(std::begin(attributes.rsv), std::end(attributes.rsv),
                                [](uint32_t value) { return value == 0; }));
    }
};

TEST_F(PointerAttributesTest, RefusesNulls) {
    int local = 0;
    aclrtPtrAttributes attributes;
    std::memset(&attributes, 0x5a, sizeof(attributes));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtPointerGetAttributes(nullptr, &attributes),
                        {"aclrtPointerGetAttributes: ", "ptr"}));
    EXPECT_EQ(attributes.location.id, 0x5a5a5a5aU);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtPointerGetAttributes(&local, nullptr),
                        {"attributes"}));
}

TEST_F(PointerAttributesTest, DeviceMemoryHasItsDevice) {
    const DeviceBuffer first(100);
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const DeviceBuffer second(100);
    const DeviceBuffer large(kLargePage);
    Expect(first.Get(), ACL_MEM_LOCATION_TYPE_DEVICE, 0, HostPage());
    Expect(first.At(99), ACL_MEM_LOCATION_TYPE_DEVICE, 0, HostPage());
    Expect(second.At(50), ACL_MEM_LOCATION_TYPE_DEVICE, 1, HostPage());
    Expect(large.At(1), ACL_MEM_LOCATION_TYPE_DEVICE, 1, kLargePage);
}

TEST_F(PointerAttributesTest, PinnedMemoryIsTheHosts) {
    const PinnedArray<char> pinned(100);
    support::PageVector<char> host(100);
    void* devPtr = nullptr;
    ASSERT_TRUE(IsOk(aclrtHostRegister(host.data(), 50, ACL_HOST_REGISTER_MAPPED, &devPtr)));
    Expect(pinned.Get() + 99, ACL_MEM_LOCATION_TYPE_HOST, 0, HostPage());
    Expect(host.data() + 49, ACL_MEM_LOCATION_TYPE_HOST, 0, HostPage());
    Expect(host.data() + 50, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, HostPage());
    ASSERT_TRUE(IsOk(aclrtHostUnregister(host.data())));
    Expect(host.data() + 49, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, HostPage());
}

TEST_F(PointerAttributesTest, EverythingElseIsUnregistered) {
    int local = 0;
    DeviceBuffer device(100);
    Expect(&local, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, HostPage());
    Expect(reinterpret_cast<void*>(uintptr_t{16}), ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0,
           HostPage());
    void* const freed = device.Release();
    ASSERT_TRUE(IsOk(aclrtFree(freed)));
    Expect(freed, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, HostPage());
}

TEST_F(PointerAttributesTest, MappedMemoryIsOfThePhysicalMemorysDevice) {
    void* range = nullptr;
    ASSERT_TRUE(IsOk(aclrtReserveMemAddress(&range, 2 * kLargePage, 0, nullptr, 0)));
    aclrtPhysicalMemProp prop{};
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location = {1, ACL_MEM_LOCATION_TYPE_DEVICE};
    aclrtDrvMemHandle handle = nullptr;
    ASSERT_TRUE(IsOk(aclrtMallocPhysical(&handle, kLargePage, &prop, 0)));
    ASSERT_TRUE(IsOk(aclrtMapMem(range, kLargePage, 0, handle, 0)));
    char* const begin = static_cast<char*>(range);
    Expect(begin + kLargePage - 1, ACL_MEM_LOCATION_TYPE_DEVICE, 1, kLargePage);
    Expect(begin + kLargePage, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, HostPage());
    ASSERT_TRUE(IsOk(aclrtUnmapMem(range)));
    Expect(begin, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, HostPage());
}

}  // namespace
