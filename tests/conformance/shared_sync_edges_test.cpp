// SPDX-License-Identifier: Apache-2.0
// Notifies, events and memory of several processes at their limits, and while other threads act.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "conformance/sharing.h"
#include "support/host_work.h"

namespace conformance {
namespace {

using SharedSyncEdgesTest = SharingTest;

size_t OpenDescriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// There. text: the key of a new notify, or the handle of a new event.
void ExportNewNotify(Words* w) {
    aclrtNotify notify = nullptr;
    Keep(w, aclrtCreateNotify(&notify, 0)) &&
        Keep(w, aclrtNotifyGetExportKey(notify, w->text, 65,
                                        ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
}
void ExportNewEvent(Words* w) {
    aclrtEvent event = nullptr;
    aclrtIpcEventHandle handle{};
    Keep(w, aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC)) &&
        Keep(w, aclrtIpcGetEventHandle(event, &handle));
    std::memcpy(w->text, &handle, sizeof(handle));
    w->Set(0, event);
}
aclrtEvent Opened(const Words& words) {
    aclrtIpcEventHandle handle;
    std::memcpy(&handle, words.text, sizeof(handle));
    aclrtEvent event = nullptr;
    EXPECT_TRUE(IsOk(aclrtIpcOpenEventHandle(handle, &event)));
    return event;
}

// The space behind a small block is large enough, and badly aligned.
TEST_F(SharedSyncEdgesTest, ABlockAlmostAsLargeAsAFileBesideASmallOne) {
    constexpr size_t kMiB = size_t{1} << 20;
    const support::DeviceBuffer small(4096);
    for (const size_t bytes : {255 * kMiB, 256 * kMiB - 4096, 254 * kMiB + 1, 256 * kMiB}) {
        const support::DeviceBuffer block(bytes);
        const auto address = reinterpret_cast<uintptr_t>(block.Get());
        EXPECT_EQ(address % kSharedUnit, 0U);
        EXPECT_TRUE(IsOk(aclrtMemset(block.At(bytes - 4096), 4096, 3, 4096)));
    }
}

TEST_F(SharedSyncEdgesTest, ALimitOfTheSizeOfFilesIsACode) {
    const Words there = other_.Run([](Words* w) {
        rlimit before{};
        Keep(w, getrlimit(RLIMIT_FSIZE, &before));
        const rlimit limit{4096, before.rlim_max};
        Keep(w, setrlimit(RLIMIT_FSIZE, &limit));
        void* block = nullptr;
        Keep(w, aclrtMalloc(&block, size_t{300} << 20, ACL_MEM_MALLOC_HUGE_FIRST));
        (void)setrlimit(RLIMIT_FSIZE, &before);  // the counts of coverage are written at the end
    });
    EXPECT_TRUE(Gave(ACL_ERROR_RT_MEMORY_ALLOCATION, there));
}

// The memory of a device and the sockets of exports are on no number of a standard stream, whatever
// the program has closed. Else a message would be written into a block.
TEST_F(SharedSyncEdgesTest, AProgramWithoutStandardStreams) {
    const Words there = other_.Run([](Words* w) {
        for (const int number : {0, 1, 2}) {
            (void)close(number);
        }
        void* block = nullptr;
        Keep(w, aclrtMalloc(&block, size_t{300} << 20, ACL_MEM_MALLOC_HUGE_FIRST)) &&
            Keep(w, aclrtMemset(block, 4096, 7, 4096));
        Words notify;
        ExportNewNotify(&notify);
        aclrtNotify import = nullptr;
        Keep(w, notify.code) && Keep(w, aclrtNotifyImportByKey(&import, notify.text, 0));
        Keep(w, CountOthers(block, 4096, 7, &w->at[0]));
        for (const int number : {0, 1, 2}) {
            w->at[1] += fcntl(number, F_GETFD) != -1 ? 1 : 0;
        }
    });
    ASSERT_TRUE(Gave(0, there));
    EXPECT_EQ(there.at[0], 0U);
    EXPECT_EQ(there.at[1], 0U) << "standard streams that are open again";
}

// The flag of a destroyed import is unmapped. Threads that record it meanwhile see 107017.
TEST_F(SharedSyncEdgesTest, RecordsWhileAnotherThreadDestroysTheNotify) {
    const Words there = other_.Run(&ExportNewNotify);
    ASSERT_TRUE(Gave(0, there));
    // A thread knows a notify by its place here, because a later one may have the same handle.
    std::vector<aclrtNotify> imports(2000);
    std::atomic<int> latest{-1};
    std::atomic<int> destroyed{0};  // counted before the call
    std::atomic<uint64_t> calls{0};
    std::atomic<bool> ended{false};
    const auto record = [&] {
        EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
        const support::Stream stream = support::MakeStream();
        while (!ended.load()) {
            const int number = latest.load();
            const int code =
                number < 0 ? 0
                           : aclrtRecordNotify(imports[static_cast<size_t>(number)], stream.Get());
            if (code != 0) {
                EXPECT_EQ(code, ACL_ERROR_RT_INVALID_HANDLE);
                EXPECT_GT(destroyed.load(), number) << "a live notify is refused";
            }
            if (calls.fetch_add(1) % 64 == 0) {
                EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
            }
        }
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back(record);
    }
    for (aclrtNotify& notify : imports) {
        EXPECT_TRUE(IsOk(aclrtNotifyImportByKey(&notify, there.text, 0)));
        latest.fetch_add(1);
        const uint64_t before = calls.load();
        while (calls.load() < before + 20) {
            std::this_thread::yield();
        }
        destroyed.fetch_add(1);
        EXPECT_TRUE(IsOk(aclrtDestroyNotify(notify)));
    }
    ended.store(true);
    for (std::thread& thread : threads) {
        thread.join();
    }
}

TEST_F(SharedSyncEdgesTest, DestroyedImportsKeepNoDescriptors) {
    const Words notify = other_.Run(&ExportNewNotify);
    const Words event = other_.Run(&ExportNewEvent);
    ASSERT_TRUE(Gave(0, notify));
    ASSERT_TRUE(Gave(0, event));
    const size_t before = OpenDescriptors();
    std::vector<aclrtNotify> notifies(20);
    std::vector<aclrtEvent> events;
    for (aclrtNotify& made : notifies) {
        ASSERT_TRUE(IsOk(aclrtNotifyImportByKey(&made, notify.text, 0)));
        events.push_back(Opened(event));
    }
    for (aclrtNotify made : notifies) {
        EXPECT_TRUE(IsOk(aclrtDestroyNotify(made)));
    }
    for (aclrtEvent made : events) {
        EXPECT_TRUE(IsOk(aclrtDestroyEvent(made)));
    }
    EXPECT_LE(OpenDescriptors(), before);  // those of earlier tests may go meanwhile
}

TEST_F(SharedSyncEdgesTest, ACaptureRefusesAWaitForAnUnrecordedEvent) {
    const support::Event event = support::MakeEventExWithFlag(ACL_EVENT_IPC);
    const support::Stream stream = support::MakeStream();
    EXPECT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), event.Get())));
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                        aclrtStreamWaitEvent(stream.Get(), event.Get()),
                        {"aclrtStreamWaitEvent: ", "ACL_EVENT_IPC"}));
    aclmdlRI model = nullptr;
    aclmdlRICaptureEnd(stream.Get(), &model);
}

TEST_F(SharedSyncEdgesTest, ADestroyedStreamTakesNoWaitForAnUnrecordedEvent) {
    const support::Event event = support::MakeEventExWithFlag(ACL_EVENT_IPC);
    const aclrtStream gone = support::MakeStream().Release();
    ASSERT_TRUE(IsOk(aclrtDestroyStream(gone)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamWaitEvent(gone, event.Get()),
                        {"aclrtStreamWaitEvent: ", "stream"}));
}

TEST_F(SharedSyncEdgesTest, AnAbortEndsTheWaitForARecordOfAnotherProcess) {
    Words there = other_.Run(&ExportNewEvent);
    const aclrtEvent event = Opened(there);
    there = other_.Run(&HoldAndRecordEvent, there);
    ASSERT_TRUE(Gave(0, there));
    std::atomic<bool> ended{false};
    int code = -1;
    std::string message;
    std::thread waiter([&] {
        EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
        code = aclrtSynchronizeEvent(event);
        const char* const text = aclGetRecentErrMsg();
        message = text != nullptr ? text : "";
        ended.store(true);
    });
    // Nothing tells when the thread has begun to wait, so there are aborts until it ends.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!ended.load() && std::chrono::steady_clock::now() < limit) {
        EXPECT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 0)));
    }
    EXPECT_TRUE(ended.load()) << "within 10 s";
    const auto release = [](Words* w) {
        aclrtStream stream = nullptr;
        Keep(w, aclrtCreateStream(&stream)) &&
            Keep(w, aclrtValueWrite(w->Pointer(1), 1, 0, stream)) &&
            Keep(w, aclrtDestroyStream(stream));
    };
    EXPECT_TRUE(Gave(0, other_.Run(release, there)));
    waiter.join();
    EXPECT_EQ(code, ACL_ERROR_RT_DEVICE_TASK_ABORT);
    EXPECT_NE(message.find("aclrtSynchronizeEvent: "), std::string::npos) << message;
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event))) << "the wait after the abort";
    EXPECT_TRUE(IsOk(aclrtDestroyEvent(event)));
}

// An import that goes while work is pending is let go of when the work has run, at the latest by
// the end of the runtime.
TEST_F(SharedSyncEdgesTest, TheEndLetsGoOfImportsThatWentWithWorkPending) {
    const auto importAndGo = [this](bool pending) {
        const Words key = other_.Run(&ExportNewNotify);
        const Words made = other_.Run(&ExportNewEvent);
        const support::Stream stream = support::MakeStream();
        const support::HostGate gate(stream.Get());
        if (!pending) {
            gate.Open();
            ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        }
        aclrtNotify notify = nullptr;
        ASSERT_TRUE(IsOk(aclrtNotifyImportByKey(&notify, key.text, 0)));
        const aclrtEvent event = Opened(made);
        ASSERT_TRUE(IsOk(aclrtDestroyNotify(notify)));
        ASSERT_TRUE(IsOk(aclrtDestroyEvent(event)));
    };
    ASSERT_NO_FATAL_FAILURE(importAndGo(false));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    const size_t before = OpenDescriptors();
    ASSERT_NO_FATAL_FAILURE(importAndGo(true));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_EQ(OpenDescriptors(), before);
}

}  // namespace
}  // namespace conformance
