// SPDX-License-Identifier: Apache-2.0
// A page that holds the first thread that touches it, whatever locks the thread has.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_HELD_PAGE_H_
#define ADVANCE_STEP_TESTS_SUPPORT_HELD_PAGE_H_

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

namespace support {

// One object at a time. A thread that touches the page waits in a signal handler until Release.
class HeldPage {
 public:
    static constexpr size_t kBytes = 4096;

    HeldPage() {
        page_ = static_cast<char*>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        EXPECT_EQ(pipe(touched_), 0);
        EXPECT_EQ(pipe(released_), 0);
        struct sigaction hold {};
        hold.sa_sigaction = &Hold;
        hold.sa_flags = SA_SIGINFO;
        EXPECT_EQ(sigaction(SIGSEGV, &hold, &before_), 0);
    }
    ~HeldPage() {
        EXPECT_EQ(sigaction(SIGSEGV, &before_, nullptr), 0);
        munmap(page_, kBytes);
        for (const int end : {touched_[0], touched_[1], released_[0], released_[1]}) {
            close(end);
        }
    }
    HeldPage(const HeldPage&) = delete;
    HeldPage& operator=(const HeldPage&) = delete;

    char* Get() const { return page_; }
    // From now on the page holds a thread.
    void Arm() const { EXPECT_EQ(mprotect(page_, kBytes, PROT_NONE), 0); }
    void WaitUntilTouched() const {
        char byte = 0;
        EXPECT_EQ(read(touched_[0], &byte, 1), 1);
    }
    void Release() const { EXPECT_EQ(write(released_[1], "", 1), 1); }

 private:
    static void Hold(int, siginfo_t*, void*) {
        char byte = 0;
        (void)!write(touched_[1], &byte, 1);
        (void)!read(released_[0], &byte, 1);
        mprotect(page_, kBytes, PROT_READ | PROT_WRITE);
    }

    static inline char* page_ = nullptr;
    static inline int touched_[2], released_[2];
    struct sigaction before_ {};
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_HELD_PAGE_H_
