// SPDX-License-Identifier: Apache-2.0
// ADVANCE_STEP_LEAKS: what a program has not freed is listed, and may fail it.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "conformance/virtual_memory_fixture.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/child_process.h"
#include "support/fork.h"
#include "support/leak_death_test.h"
#include "support/settings.h"

namespace {

using testing::AllOf;
using testing::ExitedWithCode;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using namespace support;

aclTensor* Tensor() {
    const int64_t dims[] = {4};
    return aclCreateTensor(dims, 1, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, dims, 1, nullptr);
}

// Makes one object of each kind; frees them too if `free`.
void UseEachKind(bool free) {
    void* const memory = Allocate(1000);
    void* pinned = nullptr;
    Need(aclrtMallocHost(&pinned, 300));
    aclrtContext context = nullptr;
    Need(aclrtCreateContext(&context, 1));
    aclrtStream stream = nullptr;
    Need(aclrtCreateStream(&stream));
    aclrtEvent event = nullptr;
    Need(aclrtCreateEventExWithFlag(&event, ACL_EVENT_TIME_LINE));
    aclrtNotify notify = nullptr;
    Need(aclrtCreateNotify(&notify, 0));
    aclmdlRI model = nullptr;
    Need(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    Need(aclmdlRICaptureEnd(stream, &model));
    aclTensor* const tensor = Tensor();
    float one = 1;
    aclScalar* const scalar = aclCreateScalar(&one, ACL_FLOAT);
    const int64_t value = 1;
    aclIntArray* const array = aclCreateIntArray(&value, 1);
    if (free) {
        Need(aclDestroyIntArray(array));
        Need(aclDestroyScalar(scalar));
        Need(aclDestroyTensor(tensor));
        Need(aclmdlRIDestroy(model));
        Need(aclrtDestroyNotify(notify));
        Need(aclrtDestroyEvent(event));
        Need(aclrtDestroyStream(stream));
        Need(aclrtDestroyContext(context));
        Need(aclrtFreeHost(pinned));
        Need(aclrtFree(memory));
    }
}

// The programs of death tests.
[[noreturn]] void RunWithEachKind(const char* setting, bool free) {
    Start(setting);
    UseEachKind(free);
    Need(aclFinalize());
    std::exit(0);
}
[[noreturn]] void Report(const std::function<void()>& run) {
    Start("report");
    run();
    Need(aclFinalize());
    std::exit(0);
}
[[noreturn]] void RunWithABlock(int status) {
    Start("fail");
    (void)Allocate(64);
    Need(aclFinalize());
    std::exit(status);
}

TEST_F(LeakDeathTest, AreNotLookedForByDefault) {
    EXPECT_EXIT(RunWithEachKind("off", false), ExitedWithCode(0), IsEmpty());
}

TEST_F(LeakDeathTest, AreNamedByTheCallsThatOpenWhatProcessesShare) {
    EXPECT_EXIT(Report([&] {
                    aclrtNotify notify = nullptr;
                    Need(aclrtCreateNotify(&notify, 0));
                    char key[65];
                    Need(aclrtNotifyGetExportKey(notify, key, sizeof(key), 0));
                    aclrtNotify sameNotify = nullptr;
                    Need(aclrtNotifyImportByKey(&sameNotify, key, 0));
                    aclrtEvent event = nullptr;
                    Need(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
                    aclrtIpcEventHandle handle;
                    Need(aclrtIpcGetEventHandle(event, &handle));
                    aclrtEvent sameEvent = nullptr;
                    Need(aclrtIpcOpenEventHandle(handle, &sameEvent));
                    aclrtStream stream = nullptr;
                    Need(aclrtCreateStreamV2(&stream, nullptr));
                    Need(aclrtDestroyNotify(notify));
                    Need(aclrtDestroyEvent(event));
                }),
                ExitedWithCode(0),
                AllOf(HasSubstr("1 notify, of aclrtNotifyImportByKey"),
                      HasSubstr("1 event, of aclrtIpcOpenEventHandle"),
                      HasSubstr("1 stream, of aclrtCreateStreamV2")));
}

TEST_F(LeakDeathTest, ABinaryIsAnObject) {
    EXPECT_EXIT(Report([&] {
                    aclrtBinHandle binaries[2] = {};
                    for (aclrtBinHandle& binary : binaries) {
                        Need(aclrtBinaryLoadFromFile(ADVANCE_STEP_TEST_KERNELS, nullptr, &binary));
                    }
                    Need(aclrtBinaryUnLoad(binaries[0]));
                }),
                ExitedWithCode(0), HasSubstr("1 device binary, of aclrtBinaryLoadFromFile"));
}

TEST_F(LeakDeathTest, AreNoneIfAllIsFreed) {
    EXPECT_EXIT(RunWithEachKind("fail", true), ExitedWithCode(0), IsEmpty());
}

TEST_F(LeakDeathTest, AreListedWithTheirCalls) {
    EXPECT_EXIT(
        RunWithEachKind("report", false), ExitedWithCode(0),
        AllOf(HasSubstr("advance_step leaks: 10 objects were not freed before aclFinalize:\n"),
              HasSubstr("1 block of device memory, 1000 bytes, of aclrtMalloc\n"),
              HasSubstr("1 block of pinned host memory, 300 bytes, of aclrtMallocHost\n"),
              HasSubstr("1 context, of aclrtCreateContext\n"),
              HasSubstr("1 stream, of aclrtCreateStream\n"),
              HasSubstr("1 event, of aclrtCreateEventExWithFlag\n"),
              HasSubstr("1 notify, of aclrtCreateNotify\n"),
              HasSubstr("1 captured model, of aclmdlRICaptureEnd\n"),
              HasSubstr("1 tensor, of aclCreateTensor\n"),
              HasSubstr("1 scalar, of aclCreateScalar\n"),
              HasSubstr("1 array or list, of aclCreateIntArray\n"),
              HasSubstr("conformance_device+0x"), Not(HasSubstr("libadvance_step.so"))));
}

// Another function than main calls it, and no symbol that the program exports names it.
[[gnu::noinline]] void* AllocateInAStaticFunction() {
    void* const memory = Allocate(64);
    Need(memory != nullptr ? 0 : 1);
    return memory;
}

TEST_F(LeakDeathTest, HaveLinesAndStaticFunctionsIfThereIsATool) {
    if (access("/usr/bin/llvm-symbolizer", X_OK) != 0 && access("/usr/bin/addr2line", X_OK) != 0) {
        GTEST_SKIP() << "neither llvm-symbolizer nor addr2line is installed";
    }
    EXPECT_EXIT(
        {
            Start("report", true);
            (void)AllocateInAStaticFunction();
            Need(aclFinalize());
            std::exit(0);
        },
        ExitedWithCode(0),
        testing::ContainsRegex("AllocateInAStaticFunction\\(\\)\\) at .*leak_test.cpp:[0-9]+"));
    EXPECT_EXIT(
        {
            Start("report", false);
            (void)AllocateInAStaticFunction();
            Need(aclFinalize());
            std::exit(0);
        },
        ExitedWithCode(0),
        AllOf(HasSubstr("1 block of device memory"), Not(HasSubstr("leak_test.cpp"))));
}

TEST_F(LeakDeathTest, AreListedAtTheEndOfAProcessWithoutFinalize) {
    EXPECT_EXIT(
        {
            Start("fail");
            (void)Allocate(64);
            std::exit(0);
        },
        ExitedWithCode(1), HasSubstr("1 object was not freed before the end of the process:\n"));
}

TEST_F(LeakDeathTest, FailAProgramThatEndsWithSuccess) {
    EXPECT_EXIT(RunWithABlock(0), ExitedWithCode(1),
                HasSubstr("1 block of device memory, 64 bytes"));
    EXPECT_EXIT(RunWithABlock(7), ExitedWithCode(7),
                HasSubstr("1 block of device memory, 64 bytes"));
}

TEST_F(LeakDeathTest, OfOnePlaceAreOneLine) {
    EXPECT_EXIT(Report([&] {
                    for (int i = 0; i < 5; ++i) {
                        (void)Allocate(64);
                    }
                }),
                ExitedWithCode(0),
                HasSubstr("5 blocks of device memory, 320 bytes, of aclrtMalloc\n"));
}

TEST_F(LeakDeathTest, IncludeWhatAResetHasFreed) {
    EXPECT_EXIT(Report([&] {
                    for (int i = 0; i < 50; ++i) {  // sooner or later at an address of before
                        (void)Allocate(size_t{4} << 20);
                        Need(aclrtResetDeviceForce(0));
                        Need(aclrtSetDevice(0));
                    }
                }),
                ExitedWithCode(0), HasSubstr("50 blocks of device memory, 209715200 bytes"));
}

TEST_F(LeakDeathTest, IncludeWhatCouldNotBeFreed) {
    EXPECT_EXIT(Report([&] {
                    aclrtStream stream = nullptr;
                    Need(aclrtCreateStream(&stream));
                    Need(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
                    Need(aclrtDestroyStream(stream) == 107027 ? 0 : 1);
                }),
                ExitedWithCode(0), HasSubstr("1 stream, of aclrtCreateStream\n"));
}

TEST_F(LeakDeathTest, IncludeExecutorsThatWereNotRun) {
    EXPECT_EXIT(
        Report([&] {
            {
                support::AdvanceStepBatch batch(support::MakeBatch(4, 3, 4, 5, 1));
                for (int i = 0; i < 3; ++i) {  // the last one is not run
                    Need(batch.Plan());
                    if (i < 2) {
                        Need(batch.Launch(nullptr));
                    }
                }
                Need(aclrtSynchronizeStream(nullptr));
            }
        }),
        ExitedWithCode(0),
        AllOf(HasSubstr("1 object was not freed"), HasSubstr("1 executor, of aclnnAdvanceStep\n")));
}

TEST_F(LeakDeathTest, OfTheParentAreNotThoseOfAForkedChild) {
    EXPECT_EXIT(
        {
            Start("fail");
            void* const memory = Allocate(64);
            const pid_t child = support::Fork();
            if (child == 0) {
                std::exit(0);
            }
            int status = 0;
            Need(waitpid(child, &status, 0) == child ? 0 : 1);
            Need(aclrtFree(memory));
            Need(aclFinalize());
            std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 43);
        },
        ExitedWithCode(0), IsEmpty());
}

// ADVANCE_STEP_LEAKS: handles of physical memory, and memory of other processes.

constexpr size_t kKeyRoom = 65;

aclrtDrvMemHandle Physical() {
    const aclrtPhysicalMemProp property = conformance::Property();
    aclrtDrvMemHandle handle = nullptr;
    Need(aclrtMallocPhysical(&handle, conformance::kUnit, &property, 0));
    return handle;
}

TEST_F(LeakDeathTest, PhysicalMemoryIsAnObjectUntilItsLastUse) {
    EXPECT_EXIT(
        Report([&] {
            aclrtDrvMemHandle handles[4];
            for (aclrtDrvMemHandle& handle : handles) {
                handle = Physical();
            }
            char* addresses = nullptr;
            Need(aclrtReserveMemAddress(reinterpret_cast<void**>(&addresses), 4 << 20, 0, nullptr,
                                        0));
            Need(aclrtMapMem(addresses, 2 << 20, 0, handles[1], 0));
            Need(aclrtMapMem(addresses + (2 << 20), 2 << 20, 0, handles[2], 0));
            Need(aclrtFreePhysical(handles[0]));
            aclrtDrvMemHandle same = nullptr;
            Need(aclrtMemRetainAllocationHandle(addresses, &same));
            Need(aclrtFreePhysical(same));  // the first use remains
            Need(aclrtFreePhysical(handles[2]));
            Need(aclrtMemRetainAllocationHandle(addresses + (2 << 20), &same));
        }),
        ExitedWithCode(0),
        AllOf(HasSubstr("3 objects"),
              HasSubstr("2 handles of physical memory, 4194304 bytes, of aclrtMallocPhysical"),
              HasSubstr("1 handle of physical memory, of aclrtMemRetainAllocationHandle")));
}

// In the other process: exports two blocks, and keeps them until the process ends.
void ExportTwo(Words* words) {
    Need(aclrtSetDevice(0));
    for (size_t i = 0; i < 2; ++i) {
        Need(aclrtIpcMemGetExportKey(Allocate(4096), 4096, words->text + kKeyRoom * i, kKeyRoom,
                                     ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    }
}

TEST_F(LeakDeathTest, AnImportIsAnObject) {
    ChildProcess exporter;
    const Words keys = exporter.Run(&ExportTwo);
    EXPECT_EXIT(Report([&] {
                    for (size_t i = 0; i < 2; ++i) {
                        void* memory = nullptr;
                        Need(aclrtIpcMemImportByKey(&memory, keys.text + kKeyRoom * i, 0));
                    }
                    Need(aclrtIpcMemClose(keys.text));
                }),
                ExitedWithCode(0),
                AllOf(HasSubstr("1 object was"),
                      HasSubstr("1 import of device memory, of aclrtIpcMemImportByKey")));
}

}  // namespace
