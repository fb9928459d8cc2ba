// SPDX-License-Identifier: Apache-2.0
// Tests of zeros over large ranges: what is read afterwards, and how many pages there are.

#include "src/runtime/memory/zero_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "src/runtime/memory/copy.h"
#include "support/sanitizers.h"

namespace advstep {
namespace {

constexpr size_t kHostPage = 4096;
constexpr size_t kMebibyte = size_t{1} << 20;
constexpr size_t kSomeZeros = 8 * kMebibyte;
constexpr size_t kManyZeros = 80 * kMebibyte;

size_t PresentPagesOf(const void* begin, size_t bytes) {
    std::vector<unsigned char> present(bytes / kHostPage);
    EXPECT_EQ(mincore(const_cast<void*>(begin), bytes, present.data()), 0);
    return static_cast<size_t>(std::count_if(present.begin(), present.end(),
                                             [](unsigned char page) { return (page & 1) != 0; }));
}

bool AreAllBytes(const char* begin, size_t bytes, char value) {
    return bytes == 0 || (*begin == value && std::memcmp(begin, begin + 1, bytes - 1) == 0);
}

class ZeroPagesTest : public testing::Test {
 protected:
    void SetUp() override {
        ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    }
    void TearDown() override { EXPECT_EQ(aclFinalize(), ACL_SUCCESS); }

    static char* New(size_t bytes) {
        void* block = nullptr;
        EXPECT_EQ(aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
        return static_cast<char*>(block);
    }
};

TEST_F(ZeroPagesTest, PagesThatNobodyTouchedStayUntouched) {
    char* const block = New(300 * kMebibyte);  // more than any file has left of earlier blocks
    FillWithZeros(block, kSomeZeros);
    EXPECT_EQ(PresentPagesOf(block, kSomeZeros), 0U);
    block[kMebibyte] = 1;
    block[5 * kMebibyte] = 1;
    FillWithZeros(block, kSomeZeros);
    EXPECT_LE(PresentPagesOf(block, kSomeZeros), 2U);
    EXPECT_TRUE(AreAllBytes(block, kSomeZeros, 0));
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(ZeroPagesTest, ALargeRangeGivesItsPagesBack) {
    char* const block = New(kManyZeros);
    std::memset(block, 3, kManyZeros);
    FillWithZeros(block + 100, kManyZeros - 300);
    EXPECT_LE(PresentPagesOf(block, kManyZeros), 2U);
    EXPECT_TRUE(AreAllBytes(block, 100, 3));
    EXPECT_TRUE(AreAllBytes(block + 100, kManyZeros - 300, 0));
    EXPECT_TRUE(AreAllBytes(block + kManyZeros - 200, 200, 3));
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(ZeroPagesTest, ARangeOfUsualSizeKeepsItsPages) {
    char* const block = New(kSomeZeros);
    std::memset(block, 3, kSomeZeros);
    FillWithZeros(block + 100, kSomeZeros - 300);
    EXPECT_EQ(PresentPagesOf(block, kSomeZeros), kSomeZeros / kHostPage);
    EXPECT_TRUE(AreAllBytes(block, 100, 3));
    EXPECT_TRUE(AreAllBytes(block + 100, kSomeZeros - 300, 0));
    EXPECT_TRUE(AreAllBytes(block + kSomeZeros - 200, 200, 3));
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(ZeroPagesTest, BothWaysOfFillingDoSo) {
    char* const block = New(kManyZeros);
    std::memset(block, 3, kManyZeros);
    errno = EDOM;
    FillNow(block, 0x100, kManyZeros);  // its low byte counts
    EXPECT_EQ(PresentPagesOf(block, kManyZeros), 0U);
    std::memset(block, 3, kManyZeros);
    FillWordsNow(block, 0, kManyZeros / 4);
    EXPECT_EQ(PresentPagesOf(block, kManyZeros), 0U);
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

// A hole in a file of the program might surprise it.
TEST_F(ZeroPagesTest, AFileOfTheProgramIsWritten) {
    const int file = memfd_create("program", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(file, static_cast<off_t>(kManyZeros)), 0);
    void* const mapped = mmap(nullptr, kManyZeros, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    void* device = nullptr;
    ASSERT_EQ(aclrtHostRegister(mapped, kManyZeros, ACL_HOST_REGISTER_MAPPED, &device),
              ACL_SUCCESS);
    FillWithZeros(mapped, kManyZeros);
    struct stat about {};
    ASSERT_EQ(fstat(file, &about), 0);
    EXPECT_EQ(about.st_blocks * 512, static_cast<blkcnt_t>(kManyZeros));
    EXPECT_EQ(aclrtHostUnregister(mapped), ACL_SUCCESS);
    EXPECT_EQ(munmap(mapped, kManyZeros), 0);
    EXPECT_EQ(close(file), 0);
}

// An export moves the pages to a file of their own. Zeros that come meanwhile are in there. The
// order that PagesStay keeps is broken too seldom without it for this test to notice.
TEST_F(ZeroPagesTest, ZerosDuringAnExportAreNotLost) {
    if (support::kThreadSanitizer) {
        GTEST_SKIP() << "the thread sanitizer's own memset would wait for ever in the handler";
    }
    for (int round = 0; round < 6; ++round) {
        char* const block = New(kManyZeros);
        std::memset(block, 3, kManyZeros);
        std::thread zeros([block] { FillWithZeros(block, kManyZeros); });
        char key[65] = {};
        EXPECT_EQ(aclrtIpcMemGetExportKey(block, kManyZeros, key, sizeof key, 0), ACL_SUCCESS);
        zeros.join();
        EXPECT_TRUE(AreAllBytes(block, kManyZeros, 0));
        EXPECT_EQ(aclrtIpcMemClose(key), ACL_SUCCESS);
        EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
}

}  // namespace
}  // namespace advstep
