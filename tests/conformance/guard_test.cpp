// SPDX-License-Identifier: Apache-2.0
// Behaviour that stays the same under ADVANCE_STEP_GUARD.
#include <sys/resource.h>

#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "conformance/guard_fixture.h"
#include "support/handles.h"

namespace {

using conformance::Device;
using conformance::Free;
using conformance::Pinned;
using support::IsOk;

class GuardTest : public support::DeviceTest, public testing::WithParamInterface<const char*> {
 protected:
    void SetUp() override {
        Restart({{"ADVANCE_STEP_GUARD", GetParam()}, {"ADVANCE_STEP_MEMORY", "64M"}});
    }
    static size_t FreeBytes() {
        size_t free = 0;
        size_t total = 0;
        EXPECT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
        return free;
    }
};
INSTANTIATE_TEST_SUITE_P(Modes, GuardTest, testing::Values("after", "before"));

size_t MapLines() {
    std::ifstream maps("/proc/self/maps");
    size_t lines = 0;
    for (std::string line; std::getline(maps, line);) {
        ++lines;
    }
    return lines;
}

TEST_P(GuardTest, EveryByteIsTheCallersAndAligned) {
    for (const size_t bytes : {1UL, 24UL, 63UL, 64UL, 65UL, 4095UL, 4096UL, 4097UL, 1048577UL,
                               2097151UL, 2097152UL, 3145733UL}) {
        volatile char* const block = Device(bytes);
        const auto address = reinterpret_cast<uintptr_t>(block);
        EXPECT_EQ(address % (bytes >= 2097152 ? 2097152 : 512), 0U) << bytes;
        std::memset(const_cast<char*>(block), 0x5a, bytes);
        EXPECT_EQ(block[0], 0x5a);
        EXPECT_EQ(block[bytes / 2], 0x5a);
        EXPECT_EQ(block[bytes - 1], 0x5a);
        Free(block);
    }
}

TEST_P(GuardTest, UsedBytesAreThoseAskedFor) {
    const size_t before = FreeBytes();
    volatile char* const block = Device(100);
    EXPECT_EQ(FreeBytes(), before - 100);
    void* more = nullptr;
    EXPECT_EQ(aclrtMalloc(&more, before - 99, ACL_MEM_MALLOC_HUGE_FIRST),
              ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT_TRUE(IsOk(aclrtMalloc(&more, before - 100, ACL_MEM_MALLOC_HUGE_FIRST)));
    EXPECT_EQ(FreeBytes(), 0U);
    EXPECT_TRUE(IsOk(aclrtFree(more)));
    Free(block);
    EXPECT_EQ(FreeBytes(), before);
}

TEST_P(GuardTest, FreedAddressesAreNotUsedAgainSoon) {
    std::set<volatile char*> seen;
    for (int i = 0; i < 1000; ++i) {
        volatile char* const block = Device(64);
        EXPECT_TRUE(seen.insert(block).second);
        Free(block);
    }
}

TEST_P(GuardTest, TheQuarantineIsBounded) {
    constexpr int kMore = 6000;  // than it takes
    for (int i = 0; i < kMore; ++i) {
        Free(Device(64));
    }
    const size_t lines = MapLines();
    for (int i = 0; i < kMore; ++i) {
        Free(Device(64));
    }
    EXPECT_LE(MapLines(), lines + 100);
}

TEST_P(GuardTest, CopiesReachBothEnds) {
    constexpr size_t kBytes = 1000;
    const std::vector<char> sent(kBytes, 'x');
    std::vector<char> got(kBytes);
    char* const device = const_cast<char*>(Device(kBytes));
    char* const pinned = const_cast<char*>(Pinned(kBytes));
    EXPECT_TRUE(IsOk(aclrtMemcpy(device, kBytes, sent.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE)));
    EXPECT_TRUE(
        IsOk(aclrtMemcpyAsync(pinned, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, nullptr)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(std::memcmp(pinned, sent.data(), kBytes), 0);
    EXPECT_EQ(aclrtMemcpy(device, kBytes, sent.data(), kBytes + 1, ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtMemset(device, 2 * kBytes, 0, kBytes + 1), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_P(GuardTest, AResetFreesAndTheDeviceGoesOn) {
    (void)Device(1000);
    (void)Device(3 << 20);
    EXPECT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
    Free(Device(1000));
}

TEST_P(GuardTest, MoreThanTheHostHasIsRefused) {
    void* address = nullptr;
    EXPECT_EQ(aclrtMallocHost(&address, SIZE_MAX / 2), ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT_EQ(address, nullptr);
}

// The memory of a device is a file without a name, and the process may make no large files. A limit
// of open files would confuse the sanitizers, which open some of their own.
TEST_P(GuardTest, NoFileForTheMemoryIsRefused) {
    ASSERT_NO_FATAL_FAILURE(
        Restart({{"ADVANCE_STEP_GUARD", GetParam()}, {"ADVANCE_STEP_MEMORY", "4G"}}));
    constexpr size_t kNewFile = size_t{512} << 20;  // more than any file of before has
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit none{rlim_t{1} << 20, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
    void* address = nullptr;
    const aclError refused = aclrtMalloc(&address, kNewFile, ACL_MEM_MALLOC_HUGE_FIRST);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_TRUE(
        support::IsError(ACL_ERROR_RT_MEMORY_ALLOCATION, refused, {"aclrtMalloc: "}, {kNewFile}));
    EXPECT_EQ(address, nullptr);
    EXPECT_EQ(FreeBytes(), size_t{4} << 30);
    Free(Device(kNewFile));
}

}  // namespace
