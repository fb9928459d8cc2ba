// SPDX-License-Identifier: Apache-2.0
// What is known of mapped memory: its rights, its physical memory, the block around an address.
#include "conformance/ipc_memory_fixture.h"

namespace conformance {
namespace {

TEST_F(IpcMemoryTest, RightsOfAMapping) {
    Words own{0, kSharedUnit};
    MakePhysical(&own);
    ASSERT_TRUE(Gave(0, own));
    char* const begin = static_cast<char*>(own.Pointer(0));
    aclrtMemLocation here{0, ACL_MEM_LOCATION_TYPE_DEVICE};
    aclrtMemLocation host{0, ACL_MEM_LOCATION_TYPE_HOST};
    uint64_t rights = 9;
    EXPECT_TRUE(IsOk(aclrtMemGetAccess(begin + 5, &here, &rights)));
    EXPECT_EQ(rights, ACL_RT_MEM_ACCESS_FLAGS_READWRITE);
    EXPECT_TRUE(IsOk(aclrtMemGetAccess(begin, &host, &rights)));
    EXPECT_EQ(rights, ACL_RT_MEM_ACCESS_FLAGS_NONE);
    aclrtMemAccessDesc desc[2] = {{ACL_RT_MEM_ACCESS_FLAGS_READWRITE, here, {}},
                                  {ACL_RT_MEM_ACCESS_FLAGS_READ, host, {}}};
    EXPECT_TRUE(IsOk(aclrtMemSetAccess(begin, kSharedUnit, desc, 2)));
    EXPECT_TRUE(IsOk(aclrtMemGetAccess(begin, &host, &rights)));
    EXPECT_EQ(rights, ACL_RT_MEM_ACCESS_FLAGS_READ);
    desc[1].flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
                        aclrtMemSetAccess(begin, kSharedUnit, desc, 2), {"desc"}));
    constexpr int kRange = ACL_ERROR_RT_PARAM_INVALID;
    EXPECT_TRUE(IsError(kRange, aclrtMemSetAccess(nullptr, kSharedUnit, desc, 2), {"virPtr"}));
    EXPECT_TRUE(IsError(kRange, aclrtMemSetAccess(begin, kSharedUnit, nullptr, 2), {"desc"}));
    EXPECT_TRUE(IsError(kRange, aclrtMemSetAccess(begin, kSharedUnit, desc, 0), {"count"}));
    EXPECT_TRUE(IsError(kRange, aclrtMemSetAccess(begin, 4096, desc, 1), {"4096"}));
    desc[0].flags = static_cast<aclrtMemAccessFlags>(2);
    EXPECT_TRUE(IsError(kRange, aclrtMemSetAccess(begin, kSharedUnit, desc, 1), {"flags"}));
    EXPECT_TRUE(IsError(kRange, aclrtMemGetAccess(&own, &here, &rights), {"virPtr"}));
    desc[1].location = {7, ACL_MEM_LOCATION_TYPE_DEVICE};
    desc[0].flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID,
                        aclrtMemSetAccess(begin, kSharedUnit, desc, 2),
                        {"desc[1].location.id is 7"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID,
                        aclrtMemGetAccess(begin, &desc[1].location, &rights),
                        {"GetAccess: location.id is 7"}));
    int32_t pid = 1;
    EXPECT_TRUE(IsError(kRange, aclrtMemSetPidToShareableHandle(77, &pid, 1),
                        {"shareableHandle is of the export"}));

    void* kept = nullptr;
    ASSERT_TRUE(IsOk(aclrtFreePhysical(own.Pointer(2))));
    ASSERT_TRUE(IsOk(aclrtMemRetainAllocationHandle(begin + 77, &kept)));
    aclrtPhysicalMemProp prop{};
    ASSERT_TRUE(IsOk(aclrtMemGetAllocationPropertiesFromHandle(kept, &prop)));
    EXPECT_EQ(prop.memAttr, ACL_HBM_MEM_NORMAL);
    EXPECT_EQ(prop.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    ASSERT_TRUE(IsOk(aclrtMemRetainAllocationHandle(begin, &kept)));
    ASSERT_TRUE(IsOk(aclrtFreePhysical(kept)));
    ASSERT_TRUE(IsOk(aclrtFreePhysical(kept)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_HANDLE, aclrtFreePhysical(kept)));
    ASSERT_TRUE(IsOk(aclrtUnmapMem(begin)));
    EXPECT_TRUE(IsError(kRange, aclrtMemRetainAllocationHandle(begin, &kept), {"virPtr"}));
    ASSERT_TRUE(IsOk(aclrtReleaseMemAddress(begin)));
}

TEST_F(IpcMemoryTest, TheBlockAroundAnAddress) {
    const support::DeviceBuffer block(kBytes);
    const support::PinnedArray<char> pinned(100);
    void* base = nullptr;
    size_t size = 0;
    EXPECT_TRUE(IsOk(aclrtMemGetAddressRange(block.At(kBytes - 1), &base, &size)));
    EXPECT_EQ(base, block.Get());
    EXPECT_GE(size, kBytes);
    EXPECT_TRUE(IsOk(aclrtMemGetAddressRange(pinned.Get() + 9, &base, nullptr)));
    EXPECT_EQ(base, pinned.Get());
    Words own{0, 2 * kSharedUnit};
    MakePhysical(&own);
    EXPECT_TRUE(IsOk(
        aclrtMemGetAddressRange(static_cast<char*>(own.Pointer(0)) + kSharedUnit, &base, &size)));
    EXPECT_EQ(base, own.Pointer(0));
    EXPECT_EQ(size, 2 * kSharedUnit);
    constexpr int kRange = ACL_ERROR_RT_PARAM_INVALID;
    EXPECT_TRUE(IsError(kRange, aclrtMemGetAddressRange(&base, &base, &size), {"ptr"}));
    EXPECT_TRUE(IsError(kRange, aclrtMemGetAddressRange(block.Get(), nullptr, nullptr),
                        {"pbase", "psize"}));
    DropPhysical(&own);
    void* reserved = nullptr;
    EXPECT_TRUE(IsError(
        kRange, aclrtReserveMemAddressNoUCMemory(&reserved, kSharedUnit, 0, &base, 0), {"size"}));
    EXPECT_TRUE(IsError(kRange, aclrtReserveMemAddressNoUCMemory(&reserved, kGiB, 0, nullptr, 0),
                        {"expectPtr"}));
    void* wanted = nullptr;  // what the host has free
    ASSERT_TRUE(IsOk(aclrtReserveMemAddress(&wanted, kGiB, kGiB, nullptr, 0)));
    ASSERT_TRUE(IsOk(aclrtReleaseMemAddress(wanted)));
    ASSERT_TRUE(IsOk(aclrtReserveMemAddressNoUCMemory(&reserved, kGiB, 0, wanted, 0)));
    EXPECT_EQ(reserved, wanted);
    EXPECT_TRUE(IsOk(aclrtReleaseMemAddress(reserved)));
}

}  // namespace
}  // namespace conformance
