// SPDX-License-Identifier: Apache-2.0
// The line of a crash in queued work of any kind: the work, its stream, and who queued it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <string>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"
#include "advance_step/fault_injection.h"
#include "advance_step/host_operator.h"
#include "support/sanitize_death_test.h"
#include "support/tensor.h"

namespace {

using namespace support;

constexpr size_t kPages = 1 << 16;

// A stream that is held, and pages of the program that are gone when its work runs.
struct HeldStream {
    HeldStream() {
        Must(aclrtSetDevice(0));
        stream = NewStream();
        pages = mmap(nullptr, kPages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        void* mapped = nullptr;
        Must(aclrtHostRegister(pages, kPages, ACL_HOST_REGISTER_MAPPED, &mapped));
        Must(advstepHoldStream(stream, &hold));
    }
    void RunWithoutPages() const {
        // They stay reserved, so that no thread's stack takes their place.
        (void)mprotect(pages, kPages, PROT_NONE);
        Must(advstepReleaseHold(hold));
        (void)aclrtSynchronizeStream(stream);
    }
    aclrtStream stream = nullptr;
    void* pages = nullptr;
    uint64_t hold = 0;
};

void CrashInAHostFunction() {
    const HeldStream held;
    Must(aclrtLaunchHostFunc(held.stream, reinterpret_cast<aclrtHostFunc>(held.pages), nullptr));
    held.RunWithoutPages();
}
void CrashInAnOperator() {
    constexpr int64_t kRows = 1000;
    const HeldStream held;
    auto* const numbers = static_cast<int64_t*>(held.pages);
    const Tensor tokens({{kRows, 1}, numbers}), sampled({{kRows - 1, 1}, numbers + kRows}),
        positions({{kRows, 1}, numbers + 2 * kRows}), lengths({{kRows, 1}, numbers + 3 * kRows}),
        slots({{kRows, 1}, numbers + 4 * kRows}), tables({{kRows, 1}, numbers + 5 * kRows});
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    Must(aclnnAdvanceStepGetWorkspaceSize(tokens.Get(), sampled.Get(), positions.Get(),
                                          lengths.Get(), slots.Get(), tables.Get(), kRows,
                                          kRows - 1, 16, &size, &executor));
    Must(aclnnAdvanceStep(nullptr, 0, executor, held.stream));
    held.RunWithoutPages();
}

// In the child of a death test.
void Crash(void (*run)(), const Settings& settings) {
    for (const auto& [name, value] : settings) {
        setenv(name.c_str(), value.c_str(), 1);
    }
    run();
}

class WorkCrashTest : public SanitizeDeathTest {};

TEST_F(WorkCrashTest, HasTheCallStackOfTheCallThatQueuedIt) {
    for (const Settings& settings :
         {Settings{{"ADVANCE_STEP_HANG", "1000"}}, Settings{{"ADVANCE_STEP_SANITIZE", "race"}}}) {
        EXPECT_DEATH(Crash(CrashInAHostFunction, settings),
                     "advance_step error: host function of stream 0x[0-9a-f]+, queued by "
                     "aclrtLaunchHostFunc, crashes by SIGSEGV at 0x[0-9a-f]+; expected a function "
                     "that stays loaded and returns\n  it was queued in:\n      .*[+]0x");
    }
}

constexpr char kOfAnOperator[] =
    "advance_step error: aclnnAdvanceStep of stream 0x[0-9a-f]+ crashes by SIG(SEGV|BUS) at "
    "0x[0-9a-f]+; expected a kernel that returns";

TEST_F(WorkCrashTest, OfAnOperatorIsNamed) {
    EXPECT_DEATH(Crash(CrashInAnOperator, {}), kOfAnOperator);
}

TEST_F(WorkCrashTest, OfAnOperatorIsNamedOnTheThreadsOfCores) {
    EXPECT_DEATH(
        Crash(CrashInAnOperator, {{"ADVANCE_STEP_THREADS", "4"}, {"ADVANCE_STEP_CORE_ORDER", "7"}}),
        kOfAnOperator);
}

}  // namespace
