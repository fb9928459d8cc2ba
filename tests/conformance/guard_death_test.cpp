// SPDX-License-Identifier: Apache-2.0
// Accesses that end the process under ADVANCE_STEP_GUARD, and their messages.
// Each death is in a process of its own, which starts the runtime itself.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "conformance/guard_fixture.h"
#include "gmock/gmock.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/table.h"

namespace {

using conformance::Device;
using conformance::Free;
using conformance::Pinned;
using conformance::StartGuarded;
using testing::HasSubstr;
using testing::Not;

constexpr long kLarge = 3 << 20;

class GuardDeathTest : public support::EndedRuntimeTest {
 protected:
    GuardDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

struct AccessCase {
    const char* name;
    const char* mode;
    bool pinned;
    long bytes;
    long offset;
};

class GuardAccessDeathTest : public GuardDeathTest,
                             public testing::WithParamInterface<AccessCase> {};

std::string Says(const char* access, const AccessCase& c) {
    return std::string("advance_step error: guard: ") + access + " at 0x[0-9a-f]+, offset " +
           std::to_string(c.offset) + " of the " + std::to_string(c.bytes) +
           " bytes at 0x[0-9a-f]+ of " +
           (c.pinned ? "aclrtMallocHost" : "aclrtMalloc on device 0") +
           "; expected an offset from 0 to " + std::to_string(c.bytes - 1) + "\n";
}

volatile char* Make(const AccessCase& c) {
    StartGuarded(c.mode);
    (void)Device(100);  // neighbours
    volatile char* const block =
        c.pinned ? Pinned(static_cast<size_t>(c.bytes)) : Device(static_cast<size_t>(c.bytes));
    (void)Device(100);
    return block;
}

TEST_P(GuardAccessDeathTest, Write) {
    EXPECT_DEATH(Make(GetParam())[GetParam().offset] = 1, Says("write", GetParam()));
}

TEST_P(GuardAccessDeathTest, Read) {
    EXPECT_DEATH((void)Make(GetParam())[GetParam().offset], Says("read", GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    Table, GuardAccessDeathTest,
    testing::Values(AccessCase{"AfterTheEnd", "after", false, 512, 512},
                    AccessCase{"AfterTheSlack", "after", false, 24, 512},
                    AccessCase{"AfterTheLastPage", "after", false, 4096, 4096},
                    AccessCase{"AfterMorePages", "after", false, 12800, 12800},
                    AccessCase{"AfterALargeBlock", "after", false, kLarge, kLarge},
                    AccessCase{"AfterALargeUnevenBlock", "after", false, kLarge + 5, kLarge + 4096},
                    AccessCase{"AfterFarBefore", "after", false, 64, -4096},
                    AccessCase{"AfterPinned", "after", true, 64, 4096},
                    AccessCase{"BeforeTheBegin", "before", false, 64, -1},
                    AccessCase{"BeforeAnUnevenBegin", "before", false, 1, -8},
                    AccessCase{"BeforeALargeBlock", "before", false, kLarge, -1},
                    AccessCase{"BeforeFarAfter", "before", false, 100, 4096},
                    AccessCase{"BeforePinned", "before", true, 64, -1}),
    support::CaseName());

class GuardModeDeathTest : public GuardDeathTest,
                           public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, GuardModeDeathTest, testing::Values("after", "before"));

TEST_P(GuardModeDeathTest, FreedMemory) {
    const auto touch = [] {
        StartGuarded(GetParam());
        volatile char* const block = Device(200);
        Free(block);
        block[8] = 1;
    };
    EXPECT_DEATH(touch(),
                 "guard: write at 0x[0-9a-f]+, in freed memory: offset 8 of the 200 bytes at "
                 "0x[0-9a-f]+ of aclrtMalloc on device 0; expected memory that has not been freed");
}

TEST_P(GuardModeDeathTest, MemoryOfAnEndedRuntime) {
    const auto touch = [] {
        StartGuarded(GetParam());
        volatile char* const block = Pinned(kLarge);
        EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
        (void)block[kLarge - 1];
    };
    EXPECT_DEATH(touch(), "guard: read at .* in freed memory: offset 3145727 of the 3145728 bytes");
}

TEST_P(GuardModeDeathTest, FreedMemoryOnceEarlierWorkHasRun) {
    const auto touch = [] {
        StartGuarded(GetParam());
        volatile char* const block = Device(200);
        const support::Stream stream = support::MakeStream();
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        Free(block);
        block[0] = 1;  // work that was queued before may still use it
        write(STDERR_FILENO, "alive\n", 6);
        gate.Open();
        EXPECT_EQ(aclrtSynchronizeStream(stream.Get()), ACL_SUCCESS);
        (void)Device(64);  // looks for what can go back
        block[0] = 2;
    };
    EXPECT_DEATH(touch(),
                 "alive\nadvance_step error: guard: write at .* in freed memory: offset 0 ");
}

TEST_P(GuardModeDeathTest, SlackIsLookedAtByTheEndOfTheProcess) {
    const auto overrun = [](int status) {
        StartGuarded(GetParam());
        volatile char* const device = Device(24);
        volatile char* const pinned = Pinned(24);
        device[24] = 1;
        pinned[30] = 1;
        Free(Device(40));
        std::exit(status);
    };
    for (const auto& [status, expected] : {std::pair(0, 1), std::pair(7, 7)}) {
        EXPECT_EXIT(overrun(status), testing::ExitedWithCode(expected),
                    testing::AllOf(HasSubstr("has been written before the end of the process, "
                                             "offset 24 of the 24 bytes at 0x"),
                                   HasSubstr("offset 30 of the 24 bytes at 0x")));
    }
    const auto right = [] {
        StartGuarded(GetParam());
        Device(24)[23] = 1;
        std::exit(0);
    };
    EXPECT_EXIT(right(), testing::ExitedWithCode(0), Not(HasSubstr("guard")));
}

TEST_P(GuardModeDeathTest, SlackIsLookedAtByTheFree) {
    const auto overrun = [] {
        StartGuarded(GetParam());
        volatile char* const block = Device(24);
        block[24] = 1;
        write(STDERR_FILENO, "alive\n", 6);
        Free(block);
    };
    EXPECT_EXIT(overrun(), testing::KilledBySignal(SIGABRT),
                "alive\nadvance_step error: guard: 0x[0-9a-f]+ has been written before the free, "
                "offset 24 of the 24 bytes at 0x[0-9a-f]+ of aclrtMalloc on device 0; expected an "
                "offset from 0 to 23\n");
}

TEST_F(GuardDeathTest, SlackInFrontIsLookedAtToo) {
    const auto underrun = [] {
        StartGuarded("after");
        volatile char* const block = Device(64);
        block[-3] = 1;
        EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    };
    EXPECT_EXIT(underrun(), testing::KilledBySignal(SIGABRT),
                "written before the free, offset -3 of the 64 bytes at .* of aclrtMalloc");
}

TEST_F(GuardDeathTest, AnyThread) {
    const auto touch = [] {
        StartGuarded("after");
        volatile char* const block = Device(512);
        std::thread([&] { block[512] = 1; }).join();
    };
    EXPECT_DEATH(touch(), "guard: write at .*, offset 512 of the 512 bytes");
}

TEST_F(GuardDeathTest, AHostFunction) {
    const auto touch = [] {
        StartGuarded("after");
        volatile char* const block = Device(512);
        EXPECT_EQ(support::Enqueue(nullptr, [block] { block[512] = 1; }), ACL_SUCCESS);
        EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    };
    EXPECT_DEATH(touch(), "guard: write at .*, offset 512 of the 512 bytes");
}

// Whoever handled the signal before still does.

TEST_F(GuardDeathTest, TheDefaultActionIsTaken) {
    const auto touch = [] {
        signal(SIGSEGV, SIG_DFL);
        StartGuarded("after");
        Device(512)[512] = 1;
    };
    EXPECT_EXIT(touch(), testing::KilledBySignal(SIGSEGV), "guard: write");
}

void ExitWithWord(int signal, siginfo_t* info, void*) {
    const bool same = signal == SIGSEGV && info->si_addr != nullptr;
    (void)write(STDERR_FILENO, "mine\n", 5);
    _exit(same ? 33 : 34);
}

TEST_F(GuardDeathTest, TheHandlerOfBeforeIsCalled) {
    const auto touch = [] {
        struct sigaction action {};
        action.sa_sigaction = &ExitWithWord;
        action.sa_flags = SA_SIGINFO;
        sigaction(SIGSEGV, &action, nullptr);
        StartGuarded("after");
        Device(512)[512] = 1;
    };
    EXPECT_EXIT(touch(), testing::ExitedWithCode(33), "guard: write at .*\nmine\n");
}

void ExitPlainly(int signal) { _exit(signal == SIGSEGV ? 35 : 36); }

TEST_F(GuardDeathTest, ThePlainHandlerOfBeforeIsCalled) {
    const auto touch = [] {
        signal(SIGSEGV, &ExitPlainly);
        StartGuarded("before");
        StartGuarded("before");  // a second start installs nothing twice
        (void)Device(64)[-1];
    };
    EXPECT_EXIT(touch(), testing::ExitedWithCode(35), "guard: read at ");
}

TEST_F(GuardDeathTest, OtherFaultsAreNotItsOwn) {
    const auto touch = [] {
        signal(SIGSEGV, SIG_DFL);
        StartGuarded("after");
        auto* volatile nowhere = reinterpret_cast<volatile char*>(uintptr_t{16});
        *nowhere = 1;
    };
    EXPECT_EXIT(touch(), testing::KilledBySignal(SIGSEGV), Not(HasSubstr("guard")));
    const auto raiseIt = [] {
        signal(SIGSEGV, SIG_DFL);
        StartGuarded("after");
        raise(SIGSEGV);
    };
    EXPECT_EXIT(raiseIt(), testing::KilledBySignal(SIGSEGV), Not(HasSubstr("guard")));
}

TEST_F(GuardDeathTest, OffLeavesTheSignalsAlone) {
    struct sigaction before {};
    struct sigaction after {};
    sigaction(SIGSEGV, nullptr, &before);
    StartGuarded("off");
    sigaction(SIGSEGV, nullptr, &after);
    EXPECT_EQ(before.sa_sigaction, after.sa_sigaction);
}

}  // namespace
