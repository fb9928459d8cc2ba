// SPDX-License-Identifier: Apache-2.0
// A fork while another thread reads an option of the operator compiler.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "acl/acl_op_compiler.h"
#include "support/fork_child.h"
#include "support/held_page.h"

namespace {

// Returns what is wrong in the child: 0 is nothing.
int WrongInChild() {
    char text[64] = "";
    if (aclGetCompileopt(ACL_OP_JIT_COMPILE, text, sizeof text) != ACL_SUCCESS) return 1;
    if (std::strcmp(text, "disable") != 0) return 2;
    if (aclSetCompileopt(ACL_OP_JIT_COMPILE, "child") != ACL_SUCCESS) return 3;
    if (aclGetCompileoptSize(ACL_OP_JIT_COMPILE) != sizeof "child") return 4;
    return 0;
}

TEST(CompilerOptions, TheChildOfAForkHasItsOwn) {
    ASSERT_EQ(aclSetCompileopt(ACL_OP_JIT_COMPILE, "parent"), ACL_SUCCESS);
    const support::HeldPage page;
    page.Arm();
    std::thread reader([&] {
        EXPECT_EQ(aclGetCompileopt(ACL_OP_JIT_COMPILE, page.Get(), support::HeldPage::kBytes),
                  ACL_SUCCESS);
    });
    page.WaitUntilTouched();
    EXPECT_EQ(support::InForkedChild(WrongInChild), 0);
    page.Release();
    reader.join();
    EXPECT_STREQ(page.Get(), "parent");
    EXPECT_EQ(aclSetCompileopt(ACL_OP_JIT_COMPILE, "disable"), ACL_SUCCESS);
}

}  // namespace
