// SPDX-License-Identifier: Apache-2.0
// Notifies that several processes have.
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "advance_step/fault_injection.h"
#include "conformance/sharing.h"
#include "support/host_work.h"
#include "support/sanitizers.h"
#include "support/tasks.h"

namespace conformance {
namespace {

using SharedSyncTest = SharingTest;
using Notify = support::Owned<&aclrtDestroyNotify>;

Notify MakeNotify() {
    aclrtNotify notify = nullptr;
    EXPECT_TRUE(IsOk(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT)));
    return Notify(notify);
}
std::string KeyOf(aclrtNotify notify,
                  uint64_t flags = ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
    char key[65] = {};
    EXPECT_TRUE(IsOk(aclrtNotifyGetExportKey(notify, key, sizeof(key), flags)));
    return key;
}
// A flag that is set is what a wait of 1 s takes.
int TakesFlag(aclrtNotify notify, uint32_t seconds = 1) {
    const support::Stream stream = support::MakeStream();
    EXPECT_TRUE(IsOk(aclrtWaitAndResetNotify(notify, stream.Get(), seconds)));
    return aclrtSynchronizeStream(stream.Get());
}

// There. at[0]: the notify.
void ImportNotify(Words* w) {
    aclrtNotify notify = nullptr;
    char key[sizeof(w->text)];
    std::memcpy(key, w->text, sizeof(key));
    Keep(w, aclrtNotifyImportByKey(&notify, key, 0));
    w->Set(0, notify);
}
// After at[1] microseconds.
void RecordNotify(Words* w) {
    Keep(w, advstepDelayStream(nullptr, w->at[1])) &&
        Keep(w, aclrtRecordNotify(w->Pointer(0), nullptr)) &&
        Keep(w, aclrtSynchronizeStream(nullptr));
}
void WaitForNotify(Words* w) {
    Keep(w, aclrtWaitAndResetNotify(w->Pointer(0), nullptr, 0)) &&
        Keep(w, aclrtSynchronizeStream(nullptr));
}

TEST_F(SharedSyncTest, TheImporterRecordsAndTheExporterWaits) {
    const Notify notify = MakeNotify();
    const Words there = other_.Run(&ImportNotify, WithText(KeyOf(notify.Get())));
    ASSERT_TRUE(Gave(0, there));
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(Gave(0, other_.Run(&RecordNotify, there)));
        ASSERT_TRUE(IsOk(TakesFlag(notify.Get(), 0)));
    }
    EXPECT_EQ(TakesFlag(notify.Get()), ACL_ERROR_RT_WAIT_TIMEOUT);
}

TEST_F(SharedSyncTest, AWaitThatWasQueuedBeforeTheExport) {
    if (support::kThreadSanitizer) {
        GTEST_SKIP()
            << "the thread sanitizer holds a lock of its own over a worker's exchange of the "
               "flag, for which its signal handler would wait for ever";
    }
    const Notify notify = MakeNotify();
    const support::Stream stream = support::MakeStream();
    ASSERT_TRUE(IsOk(aclrtWaitAndResetNotify(notify.Get(), stream.Get(), 0)));
    Words there = other_.Run(&ImportNotify, WithText(KeyOf(notify.Get())));
    const support::Signal ran;  // on a worker: this thread does not look
    ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [ran] { ran.Set(); })));
    there.at[1] = 20000;  // a worker that has nothing to do takes naps before it sleeps
    EXPECT_TRUE(Gave(0, other_.Run(&RecordNotify, there)));
    EXPECT_TRUE(ran.Wait());
}

// The same, but the library's threads sleep when the notify becomes one of several processes. From
// then on they look at its flag, which nobody tells them of.
TEST_F(SharedSyncTest, AnExportWakesTheThreadsThatSleep) {
    if (support::DoingOf("/proc/thread-self").empty()) {
        GTEST_SKIP() << "the kernel does not tell what threads do";
    }
    const std::set<std::string> before = support::Tasks();
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    const Notify notify = MakeNotify();
    const support::Stream stream = support::MakeStream();
    const support::Recorder begun;
    ASSERT_TRUE(IsOk(begun.Mark(stream.Get(), 0)));
    ASSERT_TRUE(begun.WaitFor(1)) << "the library's threads are there, and look around";
    ASSERT_TRUE(IsOk(aclrtWaitAndResetNotify(notify.Get(), stream.Get(), 0)));
    const support::Signal ran;
    ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [ran] { ran.Set(); })));
    ASSERT_TRUE(support::ComeToSleep(before));
    Words there = other_.Run(&ImportNotify, WithText(KeyOf(notify.Get())));
    ASSERT_TRUE(Gave(0, there));
    EXPECT_TRUE(Gave(0, other_.Run(&RecordNotify, there)));
    EXPECT_TRUE(ran.Wait());
}

TEST_F(SharedSyncTest, TheExporterRecordsAndTheImporterWaits) {
    const Notify notify = MakeNotify();
    const Words there = other_.Run(&ImportNotify, WithText(KeyOf(notify.Get())));
    other_.Start(&WaitForNotify, there);
    ASSERT_TRUE(IsOk(aclrtRecordNotify(notify.Get(), nullptr)));
    EXPECT_TRUE(Gave(0, other_.Result()));
}

TEST_F(SharedSyncTest, ANotifyEndsWithItsLastProcess) {
    Notify notify = MakeNotify();
    const std::string key = KeyOf(notify.Get());
    EXPECT_EQ(KeyOf(notify.Get()), key);
    ChildProcess third;
    ASSERT_TRUE(Gave(0, third.Run(&Begin)));
    const Words second = other_.Run(&ImportNotify, WithText(key));
    const Words last = third.Run(&ImportNotify, WithText(key));
    notify = Notify();
    std::vector<Notify> others;  // none of which gets the flag that the two still have
    for (int i = 0; i < 4; ++i) {
        others.push_back(MakeNotify());
    }
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, third.Run(&ImportNotify, WithText(key))));
    third.Start(&WaitForNotify, last);
    EXPECT_TRUE(Gave(0, other_.Run(&RecordNotify, second)));
    EXPECT_TRUE(Gave(0, third.Result()));
}

TEST_F(SharedSyncTest, TheExporterOfANotifyIsKilled) {
    Words there = other_.Run([](Words* w) {
        aclrtNotify notify = nullptr;
        Keep(w, aclrtCreateNotify(&notify, 0)) &&
            Keep(w, aclrtNotifyGetExportKey(notify, w->text, sizeof(w->text), 2));
        w->Set(0, notify);
    });
    ASSERT_TRUE(Gave(0, there));
    aclrtNotify notify = nullptr;
    ASSERT_TRUE(IsOk(aclrtNotifyImportByKey(&notify, there.text, 3)));
    other_.Kill();
    EXPECT_TRUE(IsOk(aclrtRecordNotify(notify, nullptr)));
    EXPECT_TRUE(IsOk(TakesFlag(notify)));
    EXPECT_TRUE(IsOk(aclrtDestroyNotify(notify)));
}

TEST_F(SharedSyncTest, ListsOfNotifies) {
    const Notify notify = MakeNotify();
    int32_t pid = other_.Pid();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifySetImportPid(notify.Get(), &pid, 1),
                        {"aclrtNotifySetImportPid: ", "not exported"}));
    const std::string key = KeyOf(notify.Get(), 0);
    EXPECT_TRUE(Gave(ACL_ERROR_RT_NO_PERMISSION, other_.Run(&ImportNotify, WithText(key))));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtNotifySetImportPid(notify.Get(), &pid, ~size_t{0}), {"num is "}));
    ASSERT_TRUE(IsOk(aclrtNotifySetImportPid(notify.Get(), &pid, 1)));
    const Words there = other_.Run(&ImportNotify, WithText(key));
    EXPECT_TRUE(Gave(0, there));
    const auto exportThere = [](Words* w) {
        Keep(w, aclrtNotifyGetExportKey(w->Pointer(0), w->text, sizeof(w->text), 0));
    };
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, other_.Run(exportThere, there)));
    const Notify own = MakeNotify();  // an import of the process that exports it
    std::string ownKey = KeyOf(own.Get());
    aclrtNotify notifyOfKey = nullptr;
    ASSERT_TRUE(IsOk(aclrtNotifyImportByKey(&notifyOfKey, ownKey.data(), 0)));
    const Notify imported(notifyOfKey);
    char room[65];
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtNotifyGetExportKey(imported.Get(), room, sizeof(room), 0),
                        {"notify 0x", " is of aclrtNotifyImportByKey; expected one of "}));
}

TEST_F(SharedSyncTest, BatchReset) {
    const Notify first = MakeNotify();
    const Notify second = MakeNotify();
    const auto setBoth = [&] {
        EXPECT_TRUE(IsOk(aclrtRecordNotify(first.Get(), nullptr)));
        EXPECT_TRUE(IsOk(aclrtRecordNotify(second.Get(), nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    };
    aclrtNotify notifies[] = {first.Get(), second.Get()};
    setBoth();
    EXPECT_TRUE(IsOk(aclrtNotifyBatchReset(notifies, 2)));
    EXPECT_EQ(TakesFlag(first.Get()), ACL_ERROR_RT_WAIT_TIMEOUT);
    EXPECT_EQ(TakesFlag(second.Get()), ACL_ERROR_RT_WAIT_TIMEOUT);
    setBoth();
    notifies[1] = &notifies;
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_HANDLE, aclrtNotifyBatchReset(notifies, 2)));
    EXPECT_TRUE(IsOk(TakesFlag(first.Get()))) << "all or none";
    EXPECT_TRUE(IsCode(ACL_ERROR_INVALID_PARAM, aclrtNotifyBatchReset(nullptr, 2)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifyBatchReset(notifies, 0)));
}

}  // namespace
}  // namespace conformance
