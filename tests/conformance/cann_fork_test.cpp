// SPDX-License-Identifier: Apache-2.0
// A fork while another thread reads an option of the operator compiler.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "acl/acl_op_compiler.h"
#include "support/fork.h"

namespace {

constexpr size_t kPage = 4096;

char* page = nullptr;  // no byte of it can be written before ReleaseThePage
int reached[2], released[2];

// Holds the thread that writes the page where it is.
void ReleaseThePage(int, siginfo_t*, void*) {
    char byte = 0;
    (void)!write(reached[1], &byte, 1);
    (void)!read(released[0], &byte, 1);
    mprotect(page, kPage, PROT_READ | PROT_WRITE);
}

// Returns what is wrong in the child: 0 is nothing.
int WrongInChild() {
    alarm(20);  // ends a child that waits for ever
    char text[64] = "";
    if (aclGetCompileopt(ACL_OP_JIT_COMPILE, text, sizeof text) != ACL_SUCCESS) return 1;
    if (std::strcmp(text, "disable") != 0) return 2;
    if (aclSetCompileopt(ACL_OP_JIT_COMPILE, "child") != ACL_SUCCESS) return 3;
    if (aclGetCompileoptSize(ACL_OP_JIT_COMPILE) != sizeof "child") return 4;
    return 0;
}

TEST(CompilerOptions, TheChildOfAForkHasItsOwn) {
    ASSERT_EQ(aclSetCompileopt(ACL_OP_JIT_COMPILE, "parent"), ACL_SUCCESS);
    page = static_cast<char*>(mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_EQ(pipe(reached), 0);
    ASSERT_EQ(pipe(released), 0);
    struct sigaction before {};
    struct sigaction hold {};
    hold.sa_sigaction = &ReleaseThePage;
    hold.sa_flags = SA_SIGINFO;
    ASSERT_EQ(sigaction(SIGSEGV, &hold, &before), 0);
    std::thread reader(
        [] { EXPECT_EQ(aclGetCompileopt(ACL_OP_JIT_COMPILE, page, kPage), ACL_SUCCESS); });
    char byte = 0;
    EXPECT_EQ(read(reached[0], &byte, 1), 1);
    const pid_t child = support::Fork();
    if (child == 0) {
        _exit(WrongInChild());
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(write(released[1], &byte, 1), 1);
    reader.join();
    EXPECT_STREQ(page, "parent");
    EXPECT_EQ(sigaction(SIGSEGV, &before, nullptr), 0);
    EXPECT_EQ(aclSetCompileopt(ACL_OP_JIT_COMPILE, "disable"), ACL_SUCCESS);
    munmap(page, kPage);
    for (const int end : {reached[0], reached[1], released[0], released[1]}) {
        close(end);
    }
}

}  // namespace
