// SPDX-License-Identifier: Apache-2.0
// Every call of the library with every one of its allocations failing, one at a time, and from one
// on all of them. Each attempt is a process of its own that starts the runtime anew, so what is
// allocated only once per process fails, too, and the leak check at its end sees what was lost.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>

#include "faults/counted_allocations.h"
#include "faults/scene.h"
#include "support/table.h"

namespace {

using faults::Call;
using faults::Scene;

constexpr unsigned kSecondsPerAttempt = 60;

std::vector<Call> AllCalls() {
    std::vector<Call> all;
    for (const auto& part :
         {faults::RuntimeCalls(), faults::StreamCalls(), faults::MemoryCalls(),
          faults::CaptureCalls(), faults::ClientCalls(), faults::SharingCalls(),
          faults::MoreStreamCalls(), faults::ConditionalCalls(), faults::KernelCalls(),
          faults::AllocatorCalls(), faults::PlainCalls()}) {
        all.insert(all.end(), part.begin(), part.end());
    }
    for (const auto& part :
         {faults::TensorCalls(), faults::OperatorCalls(), faults::OwnOperatorCalls(),
          faults::HostCallCalls(), faults::PlainAclnnCalls()}) {
        std::transform(part.begin(), part.end(), std::back_inserter(all), &faults::OfAclnn);
    }
    return all;
}

// What an attempt tells the test.
struct Report {
    uint64_t allocations = 0;  // that the call made, as the library counts
    uint64_t news = 0;         // as the program's operator new counts
    uint64_t struck = 0;       // failed on purpose
    int code = 0;              // of the call
    // Lost from before the call to after its undoing; what the call is for, if it ends something.
    int64_t bytes = 0;
    int64_t streams = 0;
};

// What is in use: bytes of device memory and streams.
struct InUse {
    size_t free = 0;
    uint32_t streams = 0;

    static InUse Now() {
        InUse now;
        size_t total = 0;
        (void)aclrtGetMemInfo(ACL_HBM_MEM, &now.free, &total);
        (void)aclrtGetStreamAvailableNum(&now.streams);
        (void)aclGetRecentErrMsg();  // of a runtime that is ended
        return now;
    }
};

void Fail(const char* what, int code = 0) {
    const char* const message = aclGetRecentErrMsg();
    std::fprintf(stderr, "%s (%d) %s\n", what, code, message != nullptr ? message : "");
    _exit(99);
}

void Expect(const char* what, int code) {
    if (code != 0) {
        Fail(what, code);
    }
}

// What fails: allocations of a kind, made to fail by the library, or any use of the program's
// operator new, which the C++ library makes as well.
enum class Fails { kInternal, kMemory, kAny, kProgram };

struct Fault {
    Fails what = Fails::kAny;
    uint64_t n = 0;      // the first that fails; 0: none
    uint64_t count = 1;  // so many
    int code = 0;        // what the call has to return if anything fails
};

uint32_t KindsOf(Fails what) {
    return what == Fails::kInternal ? ADVSTEP_ALLOCATION_INTERNAL
           : what == Fails::kMemory ? ADVSTEP_ALLOCATION_MEMORY
                                    : ADVSTEP_ALLOCATION_ANY;
}

// In a process of its own.
void Attempt(const Call& call, const Fault& fault, int pipe) {
    alarm(kSecondsPerAttempt);
    Scene scene;
    Expect("open", scene.Open());
    if (call.prepare != nullptr) {
        Expect("prepare", call.prepare(scene));
    }
    const InUse before = InUse::Now();
    Report report;
    const bool byLibrary = fault.what != Fails::kProgram;
    Expect("fail",
           advstepFailAllocations(KindsOf(fault.what), byLibrary ? fault.n : 0, fault.count));
    faults::FailAllocationsOfThread(byLibrary ? 0 : fault.n, fault.count);
    const uint64_t news = faults::AllocationsOfThread();
    report.code = call.call(scene);
    report.news = faults::AllocationsOfThread() - news;
    AdvStepFaultCounts counts;
    Expect("read", advstepReadFaultCounts(&counts));
    Expect("no more", advstepFailAllocations(ADVSTEP_ALLOCATION_ANY, 0, 0));
    report.struck = counts.failedAllocations + faults::FailedAllocationsOfThread();
    faults::FailAllocationsOfThread(0, 0);
    report.allocations = counts.allocations;
    // Another thread may have done part of the work this time; then nothing fails.
    if (report.code != (report.struck > 0 ? fault.code : 0)) {
        Fail("call", report.code);
    }
    if (report.code != 0) {
        if (aclGetRecentErrMsg() == nullptr) {
            Fail("no message", report.code);
        }
        Expect("again", call.again != nullptr ? call.again(scene) : 0);
        Expect("the next call", call.call(scene));
    }
    if (call.undo != nullptr) {
        Expect("undo", call.undo(scene));
    }
    (void)aclrtSynchronizeDevice();
    (void)aclGetRecentErrMsg();
    const InUse after = InUse::Now();
    report.bytes = static_cast<int64_t>(before.free - after.free);
    report.streams = static_cast<int64_t>(before.streams) - static_cast<int64_t>(after.streams);
    if (!call.ends) {
        Expect("work", faults::First({aclrtLaunchHostFunc(scene.stream, &faults::Nothing, nullptr),
                                      aclrtSynchronizeStream(scene.stream)}));
        Expect("close", scene.Close());
    }
    scene.batch.reset();
    if (write(pipe, &report, sizeof(report)) != sizeof(report)) {
        _exit(97);
    }
    std::exit(0);  // with the leak check
}

// False: the attempt failed, and has said so.
bool RunAttempt(const Call& call, const Fault& fault, Report* report) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        Attempt(call, fault, ends[1]);
    }
    close(ends[1]);
    const ssize_t got = read(ends[0], report, sizeof(*report));
    close(ends[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    EXPECT_TRUE(ended) << call.name << ": allocation " << fault.n
                       << (fault.what == Fails::kProgram ? " of the program" : "")
                       << (fault.count > 1 ? " and all after it" : "") << ": "
                       << (WIFEXITED(status) ? "exit " + std::to_string(WEXITSTATUS(status))
                                             : "signal " + std::to_string(WTERMSIG(status)));
    return ended && got == sizeof(*report);
}

class AllocationWalkTest : public testing::TestWithParam<Call> {
 protected:
    // Every allocation, alone or with all after it; returns how many faults there were.
    static uint64_t Walk(const Call& call, Fails what, uint64_t count, uint64_t allocations,
                         const Report& whole) {
        uint64_t injected = 0;
        for (uint64_t n = 1; n <= allocations; ++n) {
            const int code =
                what == Fails::kMemory ? ACL_ERROR_RT_MEMORY_ALLOCATION : call.shortage;
            Report report;
            if (RunAttempt(call, {what, n, count, code}, &report)) {
                injected += report.struck;
                EXPECT_EQ(report.bytes, whole.bytes) << "lost at allocation " << n;
                EXPECT_EQ(report.streams, whole.streams) << "lost at allocation " << n;
            }
        }
        return injected;
    }
};

TEST_P(AllocationWalkTest, EveryAllocationMayFail) {
    const Call call = GetParam();
    Report whole;
    Report internal;
    ASSERT_TRUE(RunAttempt(call, {Fails::kAny}, &whole));
    ASSERT_TRUE(RunAttempt(call, {Fails::kInternal}, &internal));
    // Another thread may have done a part of the work in one of them.
    const uint64_t memory = whole.allocations - std::min(whole.allocations, internal.allocations);
    uint64_t injected = Walk(call, Fails::kInternal, 1, internal.allocations, whole);
    injected += Walk(call, Fails::kMemory, 1, memory, whole);
    // Without any memory at all not even the refusal of the device's memory can be worded.
    injected += Walk(call, Fails::kAny, UINT64_MAX, whole.allocations, whole);
    if (whole.news > whole.allocations && !call.allocatesItself) {
        for (const uint64_t count : {uint64_t{1}, UINT64_MAX}) {
            injected += Walk(call, Fails::kProgram, count, whole.news, whole);
        }
    }
    std::printf("%s: %llu allocations, %llu faults\n", call.name,
                static_cast<unsigned long long>(std::max(whole.allocations, whole.news)),
                static_cast<unsigned long long>(injected));
}

INSTANTIATE_TEST_SUITE_P(Calls, AllocationWalkTest, testing::ValuesIn(AllCalls()),
                         support::CaseName());

}  // namespace
