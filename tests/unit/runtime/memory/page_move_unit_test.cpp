// SPDX-License-Identifier: Apache-2.0
// Ranges that are moved into files of their own while threads write to them.

#include "src/runtime/memory/page_move.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "src/runtime/memory/fork_records.h"
#include "src/runtime/memory/page_pool.h"
#include "support/fork.h"
#include "support/sanitizers.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

constexpr size_t kOnePage = PagePool::kPage;
constexpr size_t kOneMiB = size_t{1} << 20;

PageRange* Take(PagePool* pool, size_t bytes) {
    PageRange* range = nullptr;
    EXPECT_TRUE(unit::Succeeds(pool->Take(bytes, kOnePage, &range)));
    return range;
}
char* BytesOf(const PageRange* range) { return static_cast<char*>(PagePool::Address(*range)); }

struct stat AboutFileOf(const PageRange* range) {
    struct stat about {};
    EXPECT_EQ(fstat(PagePool::FileOf(*range), &about), 0);
    return about;
}

TEST(PageMove, TheFileHoldsTheRangeAndNothingElse) {
    PagePool pool(PagePool::Addresses::kMapped);
    PageRange* const secret = Take(&pool, kOnePage);
    PageRange* const shared = Take(&pool, 2 * kOnePage);
    std::memset(BytesOf(secret), 's', kOnePage);
    std::memset(BytesOf(shared), 'x', 2 * kOnePage);
    ASSERT_TRUE(unit::Succeeds(pool.MakeAlone(shared, kOnePage + 10, {})));
    const int file = PagePool::FileOf(*shared);
    EXPECT_NE(file, PagePool::FileOf(*secret));
    EXPECT_EQ(AboutFileOf(shared).st_size, static_cast<off_t>(2 * kOnePage));
    EXPECT_EQ(PagePool::OffsetOf(*shared), 0U);
    std::vector<char> there(2 * kOnePage);
    ASSERT_EQ(pread(file, there.data(), there.size(), 0), static_cast<ssize_t>(there.size()));
    for (size_t i = 0; i < there.size(); ++i) {
        ASSERT_EQ(there[i], i < kOnePage + 10 ? 'x' : 0) << "at " << i;
    }
    BytesOf(shared)[0] = 'y';
    ASSERT_EQ(pread(file, there.data(), 1, 0), 1);
    EXPECT_EQ(there[0], 'y') << "the range is mapped from it";
    EXPECT_EQ(ftruncate(file, 0), -1);
    EXPECT_EQ(ftruncate(file, static_cast<off_t>(kOneMiB)), -1);
    EXPECT_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE), -1);
    EXPECT_EQ(BytesOf(secret)[kOnePage - 1], 's');
    pool.GiveBack(shared);
    pool.GiveBack(secret);
}

TEST(PageMove, ARangeThatComesAgainIsOfThePoolAgain) {
    PagePool pool(PagePool::Addresses::kMapped);
    PageRange* const other = Take(&pool, kOnePage);
    PageRange* range = Take(&pool, 4 * kOnePage);
    std::memset(BytesOf(range), 1, range->bytes);
    char* const address = BytesOf(range);
    ASSERT_TRUE(unit::Succeeds(pool.MakeAlone(range, range->bytes, {})));
    const int kept = fcntl(PagePool::FileOf(*range), F_DUPFD_CLOEXEC, 3);
    pool.GiveBack(range);
    range = Take(&pool, 4 * kOnePage);
    ASSERT_EQ(BytesOf(range), address);
    EXPECT_EQ(PagePool::FileOf(*range), PagePool::FileOf(*other));
    std::memset(address, 2, range->bytes);
    char there = 0;
    ASSERT_EQ(pread(kept, &there, 1, 0), 1);
    EXPECT_EQ(there, 1) << "the file of the export has other bytes";
    EXPECT_EQ(close(kept), 0);
    pool.GiveBack(range);
    pool.GiveBack(other);
}

// A range that is a whole file stays in it. The file serves nothing else afterwards.
TEST(PageMove, AWholeFileIsNotCopied) {
    PagePool pool(PagePool::Addresses::kMapped);
    PageRange* const large = Take(&pool, 256 * kOneMiB);
    const ino_t file = AboutFileOf(large).st_ino;
    BytesOf(large)[256 * kOneMiB - 1] = 7;
    ASSERT_TRUE(unit::Succeeds(pool.MakeAlone(large, 256 * kOneMiB - 1, {})));
    EXPECT_EQ(AboutFileOf(large).st_ino, file);
    EXPECT_EQ(BytesOf(large)[256 * kOneMiB - 1], 0) << "no content";
    pool.GiveBack(large);
    PageRange* const next = Take(&pool, kOnePage);
    EXPECT_NE(AboutFileOf(next).st_ino, file);
    pool.GiveBack(next);
}

TEST(PageMove, PagesThatNobodyTouchedTakeNoMemory) {
    PagePool pool(PagePool::Addresses::kMapped);
    PageRange* const other = Take(&pool, kOnePage);
    PageRange* const range = Take(&pool, 64 * kOneMiB);
    BytesOf(range)[0] = 1;
    ASSERT_TRUE(unit::Succeeds(pool.MakeAlone(range, range->bytes, {})));
    EXPECT_LE(AboutFileOf(range).st_blocks * 512, static_cast<blkcnt_t>(4 * kOneMiB));
    pool.GiveBack(range);
    pool.GiveBack(other);
}

// Threads count in words of the range, each in words of its own, while it moves again and again. No
// count is lost, whether a thread writes or adds.
TEST(PageMove, NoWriteIsLost) {
    if (support::kThreadSanitizer) {
        GTEST_SKIP() << "the thread sanitizer holds a lock of its own over an atomic access, for "
                        "which its signal handler would wait for ever";
    }
    constexpr int kThreads = 3;
    constexpr int kRounds = 6;
    constexpr size_t kAll = 16 * kOneMiB;  // takes long enough that the others run meanwhile
    PagePool pool(PagePool::Addresses::kMapped);
    PageRange* const other = Take(&pool, kOnePage);
    for (int round = 0; round < kRounds; ++round) {
        PageRange* const range = Take(&pool, kAll);
        std::memset(BytesOf(range), 0, kAll);
        auto* const words = reinterpret_cast<std::atomic<uint64_t>*>(BytesOf(range));
        constexpr size_t kWords = kAll / sizeof(uint64_t);
        std::atomic<bool> ended{false};
        std::atomic<int> begun{0};
        std::vector<uint64_t> sums(kThreads);
        std::vector<std::thread> threads;
        for (size_t t = 0; t < kThreads; ++t) {
            threads.emplace_back([&, t] {
                uint64_t count = 0;
                for (size_t at = t; !ended.load(); at = (at + 512 * kThreads) % (kWords - 2)) {
                    const size_t own = at - at % kThreads + t;
                    words[own].fetch_add(1);
                    ++count;
                    begun += count == 1000 ? 1 : 0;
                }
                sums[t] = count;
            });
        }
        while (begun.load() < kThreads) {
            std::this_thread::yield();
        }
        EXPECT_TRUE(unit::Succeeds(pool.MakeAlone(range, kAll, {})));
        ended.store(true);
        for (std::thread& thread : threads) {
            thread.join();
        }
        std::vector<uint64_t> found(kThreads);
        for (size_t i = 0; i < kWords; ++i) {
            found[i % kThreads] += words[i].load();
        }
        ASSERT_EQ(found, sums) << "round " << round;
        pool.GiveBack(range);
    }
    pool.GiveBack(other);
}

// Two places with the same pages see the same bytes before, during and after the move.
TEST(PageMove, AllPlacesMoveTogether) {
    PagePool pool(PagePool::Addresses::kNone);
    PageRange* const other = Take(&pool, kOnePage);
    PageRange* const range = Take(&pool, 4 * kOnePage);
    const auto map = [&](uint64_t offset) {
        return static_cast<char*>(mmap(nullptr, 2 * kOnePage, PROT_READ | PROT_WRITE, MAP_SHARED,
                                       PagePool::FileOf(*range),
                                       static_cast<off_t>(range->offset + offset)));
    };
    char* const whole = map(0);
    char* const later = map(kOnePage);
    ForkRecord* records[2] = {};
    whole[kOnePage] = 3;
    ASSERT_TRUE(unit::Succeeds(pool.MakeAlone(
        range, 4 * kOnePage,
        {{whole, 0, 2 * kOnePage, &records[0]}, {later, kOnePage, 2 * kOnePage, &records[1]}})));
    EXPECT_EQ(later[0], 3);
    later[1] = 4;
    EXPECT_EQ(whole[kOnePage + 1], 4);
    char there[2] = {};
    ASSERT_EQ(pread(PagePool::FileOf(*range), there, 2, kOnePage), 2);
    EXPECT_EQ(there[0], 3);
    EXPECT_EQ(there[1], 4);
    for (int i = 0; i < 2; ++i) {
        ForgetForkRecord(records[i]);
        EXPECT_EQ(munmap(i == 0 ? whole : later, 2 * kOnePage), 0);
    }
    pool.GiveBack(range);
    pool.GiveBack(other);
}

// The child of a fork has a copy of a moved range too.
TEST(PageMove, TheChildOfAForkWritesItsOwnCopy) {
    PagePool pool(PagePool::Addresses::kMapped);
    PageRange* const other = Take(&pool, kOnePage);
    PageRange* const range = Take(&pool, kOnePage);
    BytesOf(other)[0] = 1;
    BytesOf(range)[0] = 2;
    ASSERT_TRUE(unit::Succeeds(pool.MakeAlone(range, kOnePage, {})));
    const pid_t child = support::Fork();
    if (child == 0) {
        const bool same = BytesOf(other)[0] == 1 && BytesOf(range)[0] == 2;
        BytesOf(range)[0] = 3;
        support::EndChild(same ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(BytesOf(range)[0], 2);
    pool.GiveBack(range);
    pool.GiveBack(other);
}

// A crash is a crash, also of a program that has exported.
TEST(PageMoveDeathTest, OtherFaultsEndTheProcess) {
    PagePool pool(PagePool::Addresses::kMapped);
    PageRange* const other = Take(&pool, kOnePage);
    PageRange* const range = Take(&pool, kOnePage);
    ASSERT_TRUE(unit::Succeeds(pool.MakeAlone(range, kOnePage, {})));
    char* const readOnly =
        static_cast<char*>(mmap(nullptr, kOnePage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_DEATH(*const_cast<volatile char*>(readOnly) = 1, "");
    const auto run = reinterpret_cast<void (*)()>(BytesOf(range));
    EXPECT_DEATH(run(), "");
    EXPECT_EQ(munmap(readOnly, kOnePage), 0);
    pool.GiveBack(range);
    pool.GiveBack(other);
}

}  // namespace
}  // namespace advstep
