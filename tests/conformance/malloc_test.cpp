// SPDX-License-Identifier: Apache-2.0
// aclrtMalloc and aclrtMallocAlign32: sizes, alignment, policies, and what does not fit.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace {

using support::IsError;
using support::IsOk;

using MallocCall = aclError (*)(void**, size_t, aclrtMemMallocPolicy);

struct MallocCase {
    MallocCall call;
    const char* name;
};

class MallocTest : public support::DeviceTest, public testing::WithParamInterface<MallocCase> {
 protected:
    static aclError Malloc(void** memory, size_t size,
                           aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST) {
        return GetParam().call(memory, size, policy);
    }
    static std::string Prefix() { return std::string(GetParam().name) + ": "; }
};

TEST_P(MallocTest, NeedsAnOutputAndASize) {
    int local = 0;
    void* memory = &local;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, Malloc(nullptr, 64), {Prefix(), "devPtr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, Malloc(&memory, 0), {Prefix(), "size"}));
    EXPECT_EQ(memory, &local);
}

TEST_P(MallocTest, IsAligned) {
    // A guarded block ends at a page.
    const size_t page = support::TestGuard().empty() ? 4096 : 512;
    std::vector<support::Owned<&aclrtFree>> kept;
    for (const size_t size :
         {1, 2, 31, 63, 64, 65, 100, 1000, 4096, 4096, 4096, 4097, 1 << 20, (1 << 21) + 1}) {
        void* memory = nullptr;
        ASSERT_TRUE(IsOk(Malloc(&memory, size)));
        EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (size < 4096 ? 512 : page), 0U) << size;
        kept.emplace_back(memory);
    }
}

TEST_P(MallocTest, EveryByteIsUsable) {
    for (const size_t size : {1, 63, 65, 4097, 100003}) {
        void* memory = nullptr;
        ASSERT_TRUE(IsOk(Malloc(&memory, size)));
        const std::vector<char> written(size, 'x');
        std::vector<char> read(size, 0);
        EXPECT_TRUE(
            IsOk(aclrtMemcpy(memory, size, written.data(), size, ACL_MEMCPY_HOST_TO_DEVICE)));
        EXPECT_TRUE(IsOk(aclrtMemcpy(read.data(), size, memory, size, ACL_MEMCPY_DEVICE_TO_HOST)));
        EXPECT_EQ(read, written);
        EXPECT_TRUE(IsOk(aclrtFree(memory)));
    }
}

TEST_P(MallocTest, TakesEveryPolicy) {
    for (int page = 0; page <= 7; ++page) {
        for (const int bits : {0, 0x100, 0x1000, 0x100000, 0x1000 | 0x100000}) {
            void* memory = nullptr;
            ASSERT_TRUE(IsOk(Malloc(&memory, 64, static_cast<aclrtMemMallocPolicy>(page | bits))))
                << page << " " << bits;
            EXPECT_TRUE(IsOk(aclrtFree(memory)));
        }
    }
}

TEST_P(MallocTest, RefusesOtherPolicies) {
    for (const int policy : {8, 15, 0x10, 0x200, 0x10000, 0x1008}) {
        void* memory = nullptr;
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            Malloc(&memory, 64, static_cast<aclrtMemMallocPolicy>(policy)),
                            {Prefix(), "policy"}))
            << policy;
        EXPECT_EQ(memory, nullptr);
    }
}

TEST_P(MallocTest, RefusesMoreThanIsFree) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_MEMORY", "8M"}}));
    void* memory = nullptr;
    for (const size_t size : {size_t{16} << 20, SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_MEMORY_ALLOCATION, Malloc(&memory, size), {Prefix()}));
        EXPECT_EQ(memory, nullptr);
    }
    std::vector<support::Owned<&aclrtFree>> kept;
    int status = ACL_SUCCESS;
    while (status == ACL_SUCCESS && kept.size() < 9) {
        status = Malloc(&memory, size_t{1} << 20);
        if (status == ACL_SUCCESS) {
            kept.emplace_back(memory);
        }
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MEMORY_ALLOCATION, status, {Prefix()}));
    EXPECT_GE(kept.size(), 4U);
    kept.pop_back();
    ASSERT_TRUE(IsOk(Malloc(&memory, size_t{1} << 20))) << "what is freed can be had again";
    kept.emplace_back(memory);
}

INSTANTIATE_TEST_SUITE_P(Plain, MallocTest,
                         testing::Values(MallocCase{aclrtMalloc, "aclrtMalloc"}));
INSTANTIATE_TEST_SUITE_P(Align32, MallocTest,
                         testing::Values(MallocCase{aclrtMallocAlign32, "aclrtMallocAlign32"}));

}  // namespace
