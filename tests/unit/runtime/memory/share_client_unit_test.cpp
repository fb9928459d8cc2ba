// SPDX-License-Identifier: Apache-2.0
// Tests of imports from a process that does not answer.

#include "src/runtime/memory/memory_sharing.h"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <chrono>
#include <csignal>

#include "acl/acl_base.h"
#include "src/runtime/memory/fork_records.h"
#include "support/watchdog.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

// A signal that interrupts calls of this process every 10 ms. Its handler stays, because the last
// signal may still be on its way.
class Interruptions {
 public:
    Interruptions() {
        struct sigaction action = {};
        action.sa_handler = [](int) {};  // without SA_RESTART
        EXPECT_EQ(sigaction(SIGALRM, &action, nullptr), 0);
        const itimerval every{{0, 10000}, {0, 10000}};
        EXPECT_EQ(setitimer(ITIMER_REAL, &every, nullptr), 0);
    }
    ~Interruptions() {
        const itimerval never{};
        (void)setitimer(ITIMER_REAL, &never, nullptr);
    }
    Interruptions(const Interruptions&) = delete;
    Interruptions& operator=(const Interruptions&) = delete;
};

TEST(ShareClientTest, SignalsDoNotProlongTheWaitForAnAnswer) {
    const support::Watchdog watchdog(std::chrono::seconds(60));
    constexpr ShareKey kKey = 0x5eed0001'00000001;
    const Descriptor silent(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const ShareAddress address(ProcessOf(kKey));
    ASSERT_EQ(bind(silent.Get(), address.Get(), address.bytes), 0);
    ASSERT_EQ(listen(silent.Get(), 1), 0);
    const Interruptions interruptions;
    ShareGrant grant;
    EXPECT_TRUE(unit::FailsWith(
        ACL_ERROR_RT_DRV_INTERNAL_ERROR,
        FetchShared(ShareKind::kBlock, kKey, "key", &grant, std::chrono::milliseconds(300)),
        {"key", "does not answer"}));
}

}  // namespace
}  // namespace advstep
