// SPDX-License-Identifier: Apache-2.0
// Queued work that crashes and is no kernel: the line on standard error, and the end of the
// process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstdlib>
#include <string>

#include "acl/acl.h"
#include "advance_step/fault_injection.h"
#include "support/runtime_test.h"
#include "support/sanitizers.h"
#include "support/table.h"

namespace {

using support::IsOk;

constexpr size_t kBytes = 8192;

// A stream with work that is held, and pages of the program that are gone when it runs. Each death
// is in a process of its own, which starts the runtime itself.
class Held {
 public:
    Held() {
        EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
        EXPECT_TRUE(IsOk(aclrtCreateStream(&stream)));
        EXPECT_TRUE(IsOk(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST)));
        pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        void* mapped = nullptr;
        EXPECT_TRUE(IsOk(aclrtHostRegister(pages, kBytes, ACL_HOST_REGISTER_MAPPED, &mapped)));
        EXPECT_TRUE(IsOk(advstepHoldStream(stream, &hold_)));
    }
    void RunWithoutPages() {
        (void)munmap(pages, kBytes);
        EXPECT_TRUE(IsOk(advstepReleaseHold(hold_)));
        (void)aclrtSynchronizeStream(stream);
    }
    aclrtHostFunc Function() const { return reinterpret_cast<aclrtHostFunc>(pages); }

    aclrtStream stream = nullptr;
    void* device = nullptr;
    void* pages = nullptr;

 private:
    uint64_t hold_ = 0;
};

struct CrashCase {
    std::string name;
    void (*queue)(const Held& held);
    std::string work;
    std::string call;
    std::string expected;
    bool atomic = false;  // the access that crashes
};

class TaskDeathTest : public support::EndedRuntimeTest,
                      public testing::WithParamInterface<CrashCase> {
 protected:
    TaskDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void Die(const CrashCase& c) {
    Held held;
    c.queue(held);
    held.RunWithoutPages();
}

std::string Says(const CrashCase& c) {
    return "advance_step error: " + c.work + " of stream 0x[0-9a-f]+, queued by " + c.call +
           ", crashes by SIGSEGV at 0x[0-9a-f]+; expected " + c.expected;
}

TEST_P(TaskDeathTest, NamesTheWorkItsStreamAndItsCall) {
    if (support::kThreadSanitizer && GetParam().atomic) {
        GTEST_SKIP() << "the thread sanitizer holds a lock of its own over an atomic access, for "
                        "which its signal handler would wait for ever";
    }
    if (support::kAddressSanitizer || support::kThreadSanitizer) {
        EXPECT_DEATH(Die(GetParam()), Says(GetParam()));
    } else {
        EXPECT_EXIT(Die(GetParam()), testing::KilledBySignal(SIGSEGV), Says(GetParam()));
    }
}

constexpr char kMemory[] = "memory that stays mapped until the work has run";
constexpr char kFunction[] = "a function that stays loaded and returns";

INSTANTIATE_TEST_SUITE_P(
    Table, TaskDeathTest,
    testing::Values(
        CrashCase{"HostFunction",
                  [](const Held& held) {
                      EXPECT_TRUE(IsOk(aclrtLaunchHostFunc(held.stream, held.Function(), nullptr)));
                  },
                  "host function", "aclrtLaunchHostFunc", kFunction},
        CrashCase{"Copy",
                  [](const Held& held) {
                      EXPECT_TRUE(IsOk(aclrtMemcpyAsync(held.device, kBytes, held.pages, kBytes,
                                                        ACL_MEMCPY_HOST_TO_DEVICE, held.stream)));
                  },
                  "copy", "aclrtMemcpyAsync", kMemory},
        CrashCase{"CopyOfRows",
                  [](const Held& held) {
                      EXPECT_TRUE(IsOk(aclrtMemcpy2dAsync(held.pages, 64, held.device, 64, 32, 4,
                                                          ACL_MEMCPY_DEVICE_TO_HOST, held.stream)));
                  },
                  "copy", "aclrtMemcpy2dAsync", kMemory},
        CrashCase{"Batch",
                  [](const Held& held) {
                      void* dsts[] = {held.device};
                      void* srcs[] = {held.pages};
                      size_t sizes[] = {kBytes};
                      size_t first = 0, failed = 0;
                      aclrtMemcpyBatchAttr attr{};
                      attr.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
                      EXPECT_TRUE(IsOk(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 1, &attr,
                                                             &first, 1, &failed, held.stream)));
                  },
                  "copies", "aclrtMemcpyBatchAsync", kMemory},
        CrashCase{"Fill",
                  [](const Held& held) {
                      EXPECT_TRUE(
                          IsOk(aclrtMemsetAsync(held.pages, kBytes, 1, kBytes, held.stream)));
                  },
                  "fill", "aclrtMemsetAsync", kMemory},
        CrashCase{"ValueWrite",
                  [](const Held& held) {
                      EXPECT_TRUE(IsOk(aclrtValueWrite(held.pages, 1, 0, held.stream)));
                  },
                  "value write", "aclrtValueWrite", kMemory, true},
        CrashCase{"ValueWait",
                  [](const Held& held) {
                      EXPECT_TRUE(IsOk(
                          aclrtValueWait(held.pages, 1, ACL_STREAM_WAIT_VALUE_EQ, held.stream)));
                  },
                  "value wait", "aclrtValueWait", kMemory, true}),
    support::CaseName());

void CrashInACallback() {
    Held held;
    const auto self = static_cast<uint64_t>(pthread_self());
    EXPECT_TRUE(IsOk(aclrtSubscribeReport(self, held.stream)));
    EXPECT_TRUE(
        IsOk(aclrtLaunchCallback(held.Function(), nullptr, ACL_CALLBACK_NO_BLOCK, held.stream)));
    (void)munmap(held.pages, kBytes);
    EXPECT_TRUE(IsOk(advstepClearFaults()));  // releases what is held
    (void)aclrtProcessReport(-1);
}

void AbortInAHostFunction() {
    Held held;
    EXPECT_TRUE(IsOk(aclrtLaunchHostFunc(
        held.stream, [](void*) { std::abort(); }, nullptr)));
    held.RunWithoutPages();
}

void AbortAfterAHostFunction() {
    Held held;
    EXPECT_TRUE(IsOk(aclrtLaunchHostFunc(
        held.stream, [](void*) {}, nullptr)));
    held.RunWithoutPages();
    std::abort();
}

class OtherTaskDeathTest : public support::EndedRuntimeTest {
 protected:
    OtherTaskDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(OtherTaskDeathTest, ACallbackIsNamed) {
    EXPECT_DEATH(CrashInACallback(),
                 "callback of stream 0x[0-9a-f]+, queued by "
                 "aclrtLaunchCallback, crashes by SIGSEGV at 0x");
}

TEST_F(OtherTaskDeathTest, AnAbortHasNoAddress) {
    EXPECT_DEATH(AbortInAHostFunction(),
                 "queued by aclrtLaunchHostFunc, crashes by SIGABRT; expected a function");
}

TEST_F(OtherTaskDeathTest, ACrashOfTheProgramIsNoTasks) {
    EXPECT_DEATH(AbortAfterAHostFunction(), testing::Not(testing::HasSubstr("crashes by")));
}

}  // namespace
