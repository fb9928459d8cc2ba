// SPDX-License-Identifier: Apache-2.0
// Kernels that crash: the line on standard error, and what becomes of the signal.
#include <signal.h>
#include <unistd.h>

#include "conformance/guard_fixture.h"
#include "conformance/kernel_fixture.h"
#include "support/child_process.h"
#include "support/sanitizers.h"
#include "support/table.h"

namespace conformance {
namespace {

struct CrashCase {
    std::string name;
    int64_t how;
    int signal;
    std::string word;
};

class KernelDeathTest : public support::EndedRuntimeTest,
                        public testing::WithParamInterface<CrashCase> {
 protected:
    KernelDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void Start() {
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
}

// Block 2 of 5 crashes.
void Crash(int64_t how) {
    const RowArguments arguments{nullptr, 2, how};
    ASSERT_TRUE(IsOk(LaunchWith(FunctionOf(LoadKernels(), "crash"), 5, arguments, nullptr)));
    (void)aclrtSynchronizeStream(nullptr);
}

std::string Says(const CrashCase& c) {
    return "advance_step error: crash: block 2 of 5 crashes by " + c.word;
}

TEST_P(KernelDeathTest, NamesTheKernelAndItsBlock) {
    EXPECT_DEATH(
        {
            Start();
            Crash(GetParam().how);
        },
        Says(GetParam()));
}

// The process ends by the signal, as it would without the line.
TEST_P(KernelDeathTest, EndsByTheSignal) {
    if (support::kAddressSanitizer || support::kThreadSanitizer) {
        GTEST_SKIP() << "a sanitizer ends the process in its own way";
    }
    EXPECT_EXIT(
        {
            Start();
            Crash(GetParam().how);
        },
        testing::KilledBySignal(GetParam().signal), Says(GetParam()));
}

void ExitWithSignal(int signal) { _exit(100 + signal); }

void CrashWithHandler(const CrashCase& c) {
    struct sigaction action {};
    action.sa_handler = &ExitWithSignal;
    action.sa_flags = SA_ONSTACK;
    sigaction(c.signal, &action, nullptr);
    Start();
    Crash(c.how);
}

// A handler that the program installed before the load is called after the line.
TEST_P(KernelDeathTest, CallsTheProgramsHandler) {
    EXPECT_EXIT(CrashWithHandler(GetParam()), testing::ExitedWithCode(100 + GetParam().signal),
                Says(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    Table, KernelDeathTest,
    testing::Values(CrashCase{"NullPointer", kCrashNull, SIGSEGV, "SIGSEGV at 0x10; expected"},
                    CrashCase{"Division", kCrashDivide, SIGFPE, "SIGFPE"},
                    CrashCase{"Illegal", kCrashIllegal, SIGILL, "SIGILL at 0x"},
                    CrashCase{"Abort", kCrashAbort, SIGABRT, "SIGABRT; expected"},
                    CrashCase{"FullStack", kCrashStack, SIGSEGV, "SIGSEGV at 0x"},
                    CrashCase{"Raised", kCrashRaise, SIGBUS, "SIGBUS"}),
    support::CaseName());

class KernelGuardDeathTest : public support::EndedRuntimeTest {
 protected:
    KernelGuardDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// 65 values where there are 64.
void WritePastTheEnd() {
    StartGuarded("after");
    auto* const values = const_cast<char*>(Device(512));
    const RowArguments past{reinterpret_cast<int64_t*>(values), 65, 1};
    ASSERT_TRUE(IsOk(LaunchWith(FunctionOf(LoadKernels(), "add_rows"), 65, past, nullptr)));
    (void)aclrtSynchronizeStream(nullptr);
}

void AbortAfterAKernel() {
    Start();
    const PinnedArray<int64_t> word(1);
    ASSERT_TRUE(IsOk(LaunchWith(FunctionOf(LoadKernels(), "add_rows"), 1,
                                RowArguments{word.Get(), 1, 1}, nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    abort();
}

// Guarded memory says which block of memory, the other line which block of the kernel.
TEST_F(KernelGuardDeathTest, GuardedMemoryAndTheKernelAreNamed) {
    EXPECT_DEATH(WritePastTheEnd(),
                 "guard: (read|write|access) at 0x[0-9a-f]+, offset 512 of the 512 bytes(.|\n)*"
                 "add_rows: block 64 of 65 crashes by SIGSEGV at 0x");
}

// A crash elsewhere has no line of a kernel.
TEST_F(KernelGuardDeathTest, ACrashOfTheProgramIsNoKernels) {
    EXPECT_DEATH(AbortAfterAKernel(), testing::Not(testing::HasSubstr("block")));
}

#ifdef ADVANCE_STEP_ISOLATED_KERNELS
using support::Keep;
using support::Words;

// The first exception of the process comes from a binary with an unwinder of its own.
void ThrowIsolated(Words* w) {
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle function = nullptr;
    if (Keep(w, aclrtSetDevice(0)) &&
        Keep(w, aclrtBinaryLoadFromFile(ADVANCE_STEP_ISOLATED_KERNELS, nullptr, &binary)) &&
        Keep(w, aclrtBinaryGetFunction(binary, "throws", &function)) &&
        Keep(w, LaunchWith(function, 3, RowArguments{}, nullptr))) {
        Keep(w, aclrtSynchronizeStream(nullptr));
    }
}

TEST(KernelExceptionTest, ComesFromAnotherCxxRuntime) {
    support::ChildProcess child;
    const Words there = child.Run(&ThrowIsolated);
    EXPECT_EQ(there.code, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_NE(std::string(there.text).find("throws: block 0 of 3 threw an exception"),
              std::string::npos)
        << there.text;
}
#endif

}  // namespace
}  // namespace conformance
