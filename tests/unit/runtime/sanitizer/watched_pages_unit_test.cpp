// SPDX-License-Identifier: Apache-2.0
// Pages that are closed, in a process and in the child of a fork.
#include "src/runtime/sanitizer/watched_pages.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "src/base/sanitizer.h"
#include "support/sanitizers.h"

namespace advstep {
namespace {

constexpr size_t kPages = 3 * size_t{4096};
alignas(4096) unsigned char watchedPages[kPages];

uintptr_t Begin() { return reinterpret_cast<uintptr_t>(watchedPages); }

// Closes the pages for a copy that writes them.
void Close() {
    sanitizerChecks.store(BitOf(SanitizerCheck::kRace) | BitOf(SanitizerCheck::kHost));
    WatchedPages::Start();
    WatchedPages::Watch(Begin(), Begin() + kPages, true, {});
}

void Open() { WatchedPages::OpenRange(Begin(), Begin() + kPages); }

class WatchedPagesTest : public testing::Test {
 protected:
    ~WatchedPagesTest() override {
        Open();
        sanitizerChecks.store(0);
    }
};

TEST_F(WatchedPagesTest, AMoveOfTheLibraryPassesThem) {
    unsigned char values[kPages];
    std::memset(values, 7, sizeof(values));
    Close();
    WatchedPages::Move(watchedPages, values, kPages);
    EXPECT_FALSE(WatchedPages::HasNoted()) << "the pages have been opened for the move";
    Open();
    EXPECT_EQ(std::memcmp(watchedPages, values, kPages), 0);
}

TEST_F(WatchedPagesTest, AnAccessIsNotedOnceAndGoesOn) {
    if (support::kThreadSanitizer) {
        GTEST_SKIP() << "it has a handler of its own";
    }
    std::memset(watchedPages, 5, kPages);
    Close();
    const volatile unsigned char* const pages = watchedPages;
    EXPECT_EQ(pages[4100], 5);
    EXPECT_EQ(pages[4101], 5);
    const std::vector<HostAccess> noted = WatchedPages::TakeNoted();
    ASSERT_EQ(noted.size(), 1U);
    EXPECT_EQ(noted[0].address, Begin() + 4100);
    EXPECT_FALSE(noted[0].writes);
    EXPECT_EQ(noted[0].thread, gettid());
    EXPECT_TRUE(WatchedPages::TakeNoted().empty());
}

// The child's pages are open at first, and what it moves past closed ones is its own.
TEST_F(WatchedPagesTest, AChildMovesInItsOwnMemory) {
    std::memset(watchedPages, 3, kPages);
    Close();
    const pid_t child = fork();
    if (child == 0) {
        unsigned char values[kPages];
        const bool isOpen = watchedPages[5000] == 3;
        std::memset(values, 9, sizeof(values));
        Close();
        WatchedPages::Move(watchedPages, values, kPages);
        Open();
        _exit(isOpen && std::memcmp(watchedPages, values, kPages) == 0 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_FALSE(WatchedPages::HasNoted());
    Open();
    EXPECT_EQ(watchedPages[5000], 3) << "the child has written to its parent's memory";
}

}  // namespace
}  // namespace advstep
