// SPDX-License-Identifier: Apache-2.0
// Aborts that meet copies of pageable memory at any moment.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace {

using support::IsOk;

class CopyAbortStressTest : public support::DeviceTest {};

// Which of the two codes a copy returns is a matter of the moment: an abort drops a copy that has
// not begun, and leaves one alone that has. The code must say what became of the memory.
TEST_F(CopyAbortStressTest, APageableCopyIsWholeOrAnError) {
    constexpr size_t kMany = size_t{1} << 20;
    constexpr int kRounds = 100;
    const support::Stream stream = support::MakeStream();
    const support::DeviceBuffer device(std::vector<char>(kMany, '0'));
    const aclrtContext context = support::CurrentContext();
    std::atomic<bool> over{false};
    std::thread aborter([&] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        while (!over) {
            EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
        }
    });
    char before = '0';
    int dropped = 0;
    for (int round = 0; round < kRounds && !HasFailure(); ++round) {
        const char now = before == 'a' ? 'b' : 'a';
        const std::vector<char> host(kMany, now);
        const int code = aclrtMemcpyAsync(device.Get(), kMany, host.data(), kMany,
                                          ACL_MEMCPY_HOST_TO_DEVICE, stream.Get());
        const bool isWhole = device.Download<char>() == host;
        EXPECT_TRUE(support::IsCode(isWhole ? ACL_SUCCESS : ACL_ERROR_RT_STREAM_ABORT, code));
        before = isWhole ? now : before;
        EXPECT_EQ(device.Download<char>(), std::vector<char>(kMany, before)) << round;
        dropped += isWhole ? 0 : 1;
    }
    over = true;
    aborter.join();
    EXPECT_LT(dropped, kRounds);
}

}  // namespace
