// SPDX-License-Identifier: Apache-2.0
// Tests of large pages for device blocks: nothing but the pages changes, once.

#include "src/runtime/memory/large_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "acl/acl.h"
#include "src/runtime/memory/copy.h"
#include "src/runtime/memory/device_memory.h"

namespace advstep {
namespace {

constexpr size_t kBlock = 4 * kLargePage;

// Kilobytes of large pages in the mapping of an address.
int64_t LargeKilobytes(const void* address) {
    std::ifstream file("/proc/self/smaps");
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        uintptr_t begin = 0;
        uintptr_t end = 0;
        char dash = 0;
        std::string key;
        int64_t value = 0;
        if (words >> std::hex >> begin >> dash >> end && dash == '-') {
            inside = wanted >= begin && wanted < end;
        } else if (std::istringstream(line) >> key >> value && inside && key == "ShmemPmdMapped:") {
            return value;
        }
    }
    return 0;
}

// Whether this host makes a large page of a file's page where it is asked.
bool HostCollapses() {
    constexpr int kCollapse = 25;
    const int file = memfd_create("probe", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, 2 * kLargePage) != 0) {
        return false;
    }
    void* const reserved =
        mmap(nullptr, 2 * kLargePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* const begin = reinterpret_cast<unsigned char*>(
        (reinterpret_cast<uintptr_t>(reserved) + kLargePage - 1) / kLargePage * kLargePage);
    void* const mapped =
        mmap(begin, kLargePage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    *begin = 1;
    const bool collapses = mapped == begin && madvise(begin, kLargePage, kCollapse) == 0;
    (void)munmap(reserved, 2 * kLargePage);
    (void)close(file);
    return collapses;
}

class LargePagesTest : public testing::Test {
 protected:
    void SetUp() override {
        ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        void* block = nullptr;
        ASSERT_EQ(aclrtMalloc(&block, kBlock, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
        block_ = static_cast<unsigned char*>(block);
    }
    void TearDown() override {
        EXPECT_EQ(aclrtFree(block_), ACL_SUCCESS);
        EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    }

    unsigned char* block_ = nullptr;
};

TEST_F(LargePagesTest, AFillMovesNothingElse) {
    std::memset(block_, 1, kBlock);
    FillNow(block_ + 100, 2, kBlock - 300);
    unsigned char* const filled = block_ + 100;
    unsigned char* const end = block_ + kBlock;
    EXPECT_EQ(std::count(block_, filled, 1), 100);
    EXPECT_EQ(std::count(filled, end - 200, 2), end - 200 - filled);
    EXPECT_EQ(std::count(end - 200, end, 1), 200);
}

TEST_F(LargePagesTest, WhatWasThereStays) {
    std::memset(block_, 7, kBlock);
    AskForLargePages(block_, kBlock);
    EXPECT_EQ(std::count(block_, block_ + kBlock, 7), static_cast<ptrdiff_t>(kBlock));
}

TEST_F(LargePagesTest, WholeOnesThatAreWrittenBecomeLarge) {
    if (!HostCollapses()) {
        GTEST_SKIP() << "the host makes no large pages of files";
    }
    FillNow(block_ + 1, 2, kBlock - 1);  // the first one is not written as a whole
    EXPECT_GE(LargeKilobytes(block_), 3 * 2048);
    FillNow(block_, 2, kLargePage);
    EXPECT_GE(LargeKilobytes(block_), 4 * 2048);
}

TEST_F(LargePagesTest, OtherMemoryIsLeftAlone) {
    void* const mapped =
        mmap(nullptr, 2 * kBlock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    FillNow(mapped, 1, 2 * kBlock);
    EXPECT_EQ(LargeKilobytes(mapped), 0);
    EXPECT_EQ(munmap(mapped, 2 * kBlock), 0);
}

}  // namespace
}  // namespace advstep
