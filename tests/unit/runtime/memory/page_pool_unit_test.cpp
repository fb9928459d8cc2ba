// SPDX-License-Identifier: Apache-2.0
// Ranges of files in memory, the pages that free ones keep, and descriptors in forks.
#include "src/runtime/memory/page_pool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "acl/acl_base.h"
#include "src/runtime/memory/device_memory.h"
#include "src/runtime/memory/fork_records.h"
#include "support/fork.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kPage = 4096;
constexpr size_t kMostKept = 64 * kMiB;
constexpr size_t kSmallRange = 128 << 10;  // free ranges below this keep their pages in any case

// The bytes that the system has given to the files of the ranges.
size_t PagesOf(const std::vector<PageRange*>& ranges) {
    size_t bytes = 0;
    std::vector<int> seen;
    for (const PageRange* const range : ranges) {
        const int file = PagePool::FileOf(*range);
        if (std::find(seen.begin(), seen.end(), file) == seen.end()) {
            struct stat about {};
            EXPECT_EQ(fstat(file, &about), 0);
            bytes += static_cast<size_t>(about.st_blocks) * 512;
            seen.push_back(file);
        }
    }
    return bytes;
}

PageRange* TakeFilled(PagePool* pool, size_t bytes, int value) {
    PageRange* range = nullptr;
    EXPECT_TRUE(unit::Succeeds(pool->Take(bytes, kPage, &range)));
    std::memset(PagePool::Address(*range), value, bytes);
    return range;
}

TEST(PagePool, ABlockThatComesAgainHasItsPages) {
    PagePool pool(PagePool::Addresses::kMapped);
    PageRange* const other = TakeFilled(&pool, kPage, 1);
    const size_t before = PagesOf({other});
    for (int round = 0; round < 100; ++round) {
        pool.GiveBack(TakeFilled(&pool, 2 * kMiB, round));
        ASSERT_EQ(PagesOf({other}), before + 2 * kMiB) << "in round " << round;
    }
    pool.GiveBack(other);
}

TEST(PagePool, LargeBlocksReturnTheirPages) {
    PagePool pool(PagePool::Addresses::kMapped);
    PageRange* const other = TakeFilled(&pool, kPage, 1);
    const size_t before = PagesOf({other});
    pool.GiveBack(TakeFilled(&pool, kMostKept + kMiB, 2));
    EXPECT_EQ(PagesOf({other}), before);
    pool.GiveBack(other);
}

// The free ranges keep as many pages as they may already.
TEST(PagePool, SmallRangesKeepTheirPages) {
    PagePool pool(PagePool::Addresses::kMapped);
    PageRange* const large = TakeFilled(&pool, kMostKept, 1);
    PageRange* const first = TakeFilled(&pool, kPage, 2);
    PageRange* const small = TakeFilled(&pool, kSmallRange - kPage, 3);
    PageRange* const second = TakeFilled(&pool, kPage, 4);
    PageRange* const larger = TakeFilled(&pool, kSmallRange, 5);
    PageRange* const third = TakeFilled(&pool, kPage, 6);
    const size_t before = PagesOf({first, second, third});
    pool.GiveBack(large);
    EXPECT_EQ(PagesOf({first, second, third}), before);
    pool.GiveBack(small);
    EXPECT_EQ(PagesOf({first, second, third}), before);
    pool.GiveBack(larger);
    EXPECT_EQ(PagesOf({first, second, third}), before - kSmallRange);
    for (PageRange* const range : {first, second, third}) {
        pool.GiveBack(range);
    }
}

// The host has parted the large pages of a hole, so it is asked for them again.
TEST(PagePool, PagesThatAreReturnedAreAskedForAgain) {
    PagePool pool(PagePool::Addresses::kMapped);
    PageRange* const block = TakeFilled(&pool, kMostKept + kLargePage, 1);
    PageRange* const behind = TakeFilled(&pool, kLargePage, 2);
    PageFile& file = *block->file;
    ASSERT_EQ(behind->file, &file);
    const size_t end = (block->offset + block->bytes) / kLargePage;
    ASSERT_EQ(behind->offset, end * kLargePage);
    for (size_t page = 0; page <= end; ++page) {
        file.asked[page] = true;
    }
    pool.GiveBack(block);
    for (size_t page = 0; page < end; ++page) {
        ASSERT_FALSE(file.asked[page]) << page;
    }
    EXPECT_TRUE(file.asked[end]) << "of another block";
    pool.GiveBack(behind);
}

TEST(PagePool, RangesWithoutAddressesHoldZerosAgain) {
    PagePool pool(PagePool::Addresses::kNone);
    PageRange* range = nullptr;
    ASSERT_TRUE(unit::Succeeds(pool.Take(kPage, kPage, &range)));
    const char text[] = "secret";
    ASSERT_EQ(
        pwrite(PagePool::FileOf(*range), text, sizeof(text), static_cast<off_t>(range->offset)),
        static_cast<ssize_t>(sizeof(text)));
    const uint64_t place = range->offset;
    pool.GiveBack(range);
    ASSERT_TRUE(unit::Succeeds(pool.Take(kPage, kPage, &range)));
    ASSERT_EQ(range->offset, place);
    char got[sizeof(text)] = {1};
    ASSERT_EQ(pread(PagePool::FileOf(*range), got, sizeof(got), static_cast<off_t>(range->offset)),
              static_cast<ssize_t>(sizeof(got)));
    EXPECT_EQ(got[0], 0);
    pool.GiveBack(range);
}

// Blocks of all sizes come and go in any order. Each keeps what was written in it, none lies on
// another one, and free ranges keep no more than they may.
TEST(PagePool, RandomBlocks) {
    struct Block {
        PageRange* range;
        size_t bytes;
        unsigned char value;
    };
    PagePool pool(PagePool::Addresses::kMapped);
    std::vector<Block> live{{TakeFilled(&pool, kPage, 7), kPage, 7}};
    std::mt19937 random(20);
    for (int step = 0; step < 600; ++step) {
        SCOPED_TRACE(step);
        if (live.size() < 2 || random() % 20 < 9) {
            size_t bytes = kPage * (1 + random() % 16);
            if (random() % 4 == 0) {
                bytes = kMiB * (1 + random() % 24);
            }
            const auto value = static_cast<unsigned char>(random());
            live.push_back({TakeFilled(&pool, bytes, value), bytes, value});
        } else {
            std::swap(live[1 + random() % (live.size() - 1)], live.back());
            const Block gone = live.back();
            live.pop_back();
            const auto* const first =
                static_cast<const unsigned char*>(PagePool::Address(*gone.range));
            ASSERT_EQ(first[0], gone.value);
            ASSERT_EQ(std::memcmp(first, first + 1, gone.bytes - 1), 0);
            pool.GiveBack(gone.range);
        }
        std::vector<PageRange*> ranges;
        size_t used = 0;
        for (const Block& block : live) {
            ranges.push_back(block.range);
            used += block.bytes;
        }
        ASSERT_LE(PagesOf(ranges), used + kMostKept + (live.size() + 1) * kSmallRange);
    }
    for (const Block& block : live) {
        pool.GiveBack(block.range);
    }
}

// A limit of the process, for as long as the object lives.
class Limited {
 public:
    Limited(decltype(RLIMIT_FSIZE) resource, rlim_t limit) : resource_(resource) {
        EXPECT_EQ(getrlimit(resource, &before_), 0);
        rlimit lower = before_;
        lower.rlim_cur = limit;
        EXPECT_EQ(setrlimit(resource, &lower), 0);
    }
    ~Limited() { setrlimit(resource_, &before_); }
    Limited(const Limited&) = delete;
    Limited& operator=(const Limited&) = delete;

 private:
    const decltype(RLIMIT_FSIZE) resource_;
    rlimit before_{};
};

TEST(PagePool, ALimitOfFileSizesMakesSmallerFiles) {
    PagePool pool(PagePool::Addresses::kMapped);
    PageRange* small = nullptr;
    PageRange* large = nullptr;
    Status refused;
    {
        const Limited limited(RLIMIT_FSIZE, 5 * kPage + 1);
        small = TakeFilled(&pool, 5 * kPage, 1);
        refused = pool.Take(6 * kPage, kPage, &large);
    }
    EXPECT_TRUE(unit::FailsWith(ACL_ERROR_RT_MEMORY_ALLOCATION, refused,
                                {"size is 24576 ", "(20481 bytes, ulimit -f)"}));
    ASSERT_NE(small, nullptr);
    pool.GiveBack(small);
    pool.GiveBack(TakeFilled(&pool, 2 * kMiB, 2));
}

TEST(PagePool, ALimitOfDescriptorsIsNamed) {
    PagePool pool(PagePool::Addresses::kNone);
    PageRange* range = nullptr;
    Status refused;
    {
        const Limited limited(RLIMIT_NOFILE, 0);
        refused = pool.Take(kPage, kPage, &range);
    }
    EXPECT_TRUE(
        unit::FailsWith(ACL_ERROR_RT_MEMORY_ALLOCATION, refused, {"open files", "(0, ulimit -n)"}));
    ASSERT_TRUE(unit::Succeeds(pool.Take(kPage, kPage, &range)));
    pool.GiveBack(range);
}

// A process may have closed its standard input.
TEST(Descriptor, TheChildOfAForkHasNotEvenThatOfNumberZero) {
    const int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(dup2(null, 0), 0);
    {
        const Descriptor first(0);
        const pid_t child = support::Fork();
        if (child == 0) {
            _exit(fcntl(0, F_GETFD) == -1 && fcntl(null, F_GETFD) != -1 ? 0 : 1);
        }
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        EXPECT_NE(fcntl(0, F_GETFD), -1);
    }
    EXPECT_EQ(fcntl(0, F_GETFD), -1);
    EXPECT_EQ(dup2(kept != -1 ? kept : null, 0), 0);
    EXPECT_EQ(close(null), 0);
    if (kept != -1) {
        EXPECT_EQ(close(kept), 0);
    }
}

}  // namespace
}  // namespace advstep
