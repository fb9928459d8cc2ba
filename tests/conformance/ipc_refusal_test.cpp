// SPDX-License-Identifier: Apache-2.0
// Keys of blocks: who may import them, and what is refused.
#include <sys/prctl.h>
#include <unistd.h>

#include <string>

#include "conformance/ipc_memory_fixture.h"

namespace conformance {
namespace {

TEST_F(IpcMemoryTest, OnlyListedProcessesImport) {
    const support::DeviceBuffer block(kBytes);
    std::string key = KeyOf(block.Get(), 0);
    EXPECT_TRUE(Gave(ACL_ERROR_RT_NO_PERMISSION, other_.Run(&ImportBlock, WithText(key))));
    int32_t pid = other_.Pid();
    ASSERT_TRUE(IsOk(aclrtIpcMemSetImportPid(key.c_str(), &pid, 1)));
    EXPECT_TRUE(Gave(0, other_.Run(&ImportBlock, WithText(key))));
    // A list that no program has is not read.
    for (const size_t many : {size_t{65537}, ~size_t{0}}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtIpcMemSetImportPid(key.c_str(), &pid, many),
                            {"num is ", "expected 1 to 65536"}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemSetImportPid(key.c_str(), &pid, 0),
                        {"num"}));
}

// Keys are no secrets, so what is open is open to the user's processes.
TEST_F(IpcMemoryTest, AnOpenKeyIsForTheSameUser) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "a process of another user takes root";
    }
    const support::DeviceBuffer block(kSharedUnit);
    const std::string key = KeyOf(block.Get());
    ASSERT_TRUE(Gave(0, other_.Run([](Words* w) {
        constexpr uid_t kNobody = 65534;
        Keep(w, setresuid(kNobody, kNobody, kNobody));
        Keep(w, prctl(PR_SET_DUMPABLE, 1));  // for the search for leaks at its end
    })));
    const Words refused = other_.Run(&ImportBlock, WithText(key));
    EXPECT_TRUE(Gave(ACL_ERROR_RT_NO_PERMISSION, refused));
    EXPECT_NE(std::string(refused.text).find("of user 65534"), std::string::npos) << refused.text;
    int32_t pid = other_.Pid();
    ASSERT_TRUE(IsOk(aclrtIpcMemSetImportPid(key.c_str(), &pid, 1)));
    EXPECT_TRUE(Gave(0, other_.Run(&ImportBlock, WithText(key))));
}

TEST_F(IpcMemoryTest, Refusals) {
    constexpr int kRange = ACL_ERROR_RT_PARAM_INVALID;
    constexpr int kNull = ACL_ERROR_INVALID_PARAM;
    const support::DeviceBuffer block(kBytes);
    const support::DeviceBuffer small(4095);
    const support::PinnedArray<char> pinned(8192);
    char key[65] = "unwritten";
    const auto get = [&](void* address, size_t size, size_t len, uint64_t flags) {
        return aclrtIpcMemGetExportKey(address, size, key, len, flags);
    };
    EXPECT_TRUE(IsError(kNull, get(nullptr, 1, 65, 0), {"devPtr"}));
    EXPECT_TRUE(IsError(kNull, aclrtIpcMemGetExportKey(block.Get(), 1, nullptr, 65, 0), {"key"}));
    EXPECT_TRUE(IsError(kRange, get(block.Get(), 0, 65, 0), {"size"}));
    EXPECT_TRUE(IsError(kRange, get(block.Get(), kBytes + 8192, 65, 0), {"size"}));
    EXPECT_TRUE(IsError(kRange, get(block.Get(), 1, 64, 0), {"len", "64"}));
    EXPECT_TRUE(IsError(kRange, get(block.Get(), 1, 65, 2), {"flags", "0x2"}));
    EXPECT_TRUE(IsError(kRange, get(block.At(4096), 1, 65, 0), {"devPtr"}));
    EXPECT_TRUE(IsError(kRange, get(small.Get(), 1, 65, 0), {"devPtr"}));
    EXPECT_TRUE(IsError(kRange, get(pinned.Get(), 1, 65, 0), {"devPtr"}));
    EXPECT_STREQ(key, "unwritten");
    void* made = nullptr;
    for (const char* text : {"", "no key", "advance_step.notify.0000000100000001",
                             "advance_step.memory.000000010000000Z"}) {
        EXPECT_TRUE(IsError(kRange, aclrtIpcMemImportByKey(&made, text, 0), {"key is", text}))
            << text;
        EXPECT_TRUE(IsError(kRange, aclrtIpcMemClose(text), {"key"})) << text;
    }
    EXPECT_TRUE(
        IsError(kRange, aclrtIpcMemImportByKey(&made, KeyOf(block.Get()).c_str(), 2), {"flags"}));
    EXPECT_EQ(made, nullptr);
}

}  // namespace
}  // namespace conformance
