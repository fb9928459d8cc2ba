// SPDX-License-Identifier: Apache-2.0
// Physical memory that processes share by shareable handles.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "conformance/sharing.h"
#include "support/sanitizers.h"

namespace conformance {
namespace {

class SharedMemoryTest : public SharingTest {
 protected:
    // Memory of this process, mapped, and its shareable handle in at[3].
    static Words Exported(size_t bytes = kSharedUnit, uint64_t flags = kToAll) {
        Words own{0, bytes};
        MakePhysical(&own);
        EXPECT_TRUE(Gave(0, own));
        EXPECT_TRUE(IsOk(aclrtMemExportToShareableHandle(own.Pointer(2), ACL_MEM_HANDLE_TYPE_NONE,
                                                         flags, &own.at[3])));
        return own;
    }
    static void Drop(Words own) {
        DropPhysical(&own);
        EXPECT_TRUE(Gave(0, own));
    }
};

TEST_F(SharedMemoryTest, BothProcessesHaveTheSameBytes) {
    const Words own = Exported();
    ASSERT_TRUE(IsOk(aclrtMemset(own.Pointer(0), kSharedUnit, 7, kSharedUnit)));
    Words there = other_.Run(&ImportPhysical, {0, kSharedUnit, 0, own.at[3]});
    ASSERT_TRUE(Gave(0, there));
    EXPECT_EQ(other_.Run(&CountThere, {there.at[0], kSharedUnit, 7}).at[2], 0U);
    EXPECT_TRUE(Gave(0, other_.Run(&FillThere, {there.at[0], kSharedUnit, 9})));
    EXPECT_TRUE(HasAll(own.Pointer(0), kSharedUnit, 9));
    EXPECT_TRUE(Gave(0, other_.Run(&DropPhysical, there)));
    Drop(own);
}

TEST_F(SharedMemoryTest, TheHostsMemoryIsTheHostsThere) {
    aclrtPhysicalMemProp prop{};
    prop.location = {0, ACL_MEM_LOCATION_TYPE_HOST_NUMA};
    void* handle = nullptr;
    ASSERT_TRUE(IsOk(aclrtMallocPhysical(&handle, kSharedUnit, &prop, 0)));
    Words own{0, kSharedUnit};
    own.Set(2, handle);
    MapAnywhere(&own);
    ASSERT_TRUE(Gave(0, own));
    ASSERT_TRUE(IsOk(aclrtMemset(own.Pointer(0), kSharedUnit, 7, kSharedUnit)));
    ASSERT_TRUE(IsOk(
        aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, kToAll, &own.at[3])));
    const Words there = other_.Run(&ImportPhysical, {0, kSharedUnit, 0, own.at[3]});
    ASSERT_TRUE(Gave(0, there));
    EXPECT_EQ(other_.Run(&CountThere, {there.at[0], kSharedUnit, 7}).at[2], 0U);
    const auto askPlace = [](Words* w) {
        aclrtPhysicalMemProp found{};
        Keep(w, aclrtMemGetAllocationPropertiesFromHandle(w->Pointer(2), &found));
        w->at[4] = static_cast<uint64_t>(found.location.type);
    };
    EXPECT_EQ(other_.Run(askPlace, there).at[4], static_cast<uint64_t>(ACL_MEM_LOCATION_TYPE_HOST));
    EXPECT_TRUE(Gave(0, other_.Run(&DropPhysical, there)));
    Drop(own);
}

TEST_F(SharedMemoryTest, VersionTwoInBothForms) {
    for (const auto type : {ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC}) {
        Words own{0, kSharedUnit};
        MakePhysical(&own);
        Words sent{0, kSharedUnit, 0, static_cast<uint64_t>(type)};
        ASSERT_TRUE(IsOk(aclrtMemExportToShareableHandleV2(own.Pointer(2), 0, type, sent.text)));
        const auto import = [](Words* w) {
            void* handle = nullptr;
            const auto kind = static_cast<aclrtMemSharedHandleType>(w->at[3]);
            if (Keep(w, aclrtMemImportFromShareableHandleV2(w->text, kind, 0, &handle))) {
                w->Set(2, handle);
                MapAnywhere(w);
            }
        };
        EXPECT_TRUE(Gave(ACL_ERROR_RT_NO_PERMISSION, other_.Run(import, sent)));
        int32_t pid = other_.Pid();
        ASSERT_TRUE(IsOk(aclrtMemSetPidToShareableHandleV2(sent.text, type, &pid, 1)));
        const Words there = other_.Run(import, sent);
        ASSERT_TRUE(Gave(0, there));
        EXPECT_TRUE(Gave(0, other_.Run(&FillThere, {there.at[0], kSharedUnit, 3})));
        EXPECT_TRUE(HasAll(own.Pointer(0), kSharedUnit, 3));
        Drop(own);
    }
}

TEST_F(SharedMemoryTest, OnlyListedProcessesImport) {
    const Words own = Exported(kSharedUnit, 0);
    const Words wanted{0, kSharedUnit, 0, own.at[3]};
    const Words refused = other_.Run(&ImportPhysical, wanted);
    EXPECT_TRUE(Gave(ACL_ERROR_RT_NO_PERMISSION, refused));
    EXPECT_NE(std::string(refused.text).find(std::to_string(other_.Pid())), std::string::npos)
        << refused.text;
    int32_t pids[] = {getpid(), 1, other_.Pid()};
    ASSERT_TRUE(IsOk(aclrtMemSetPidToShareableHandle(own.at[3], pids, 2)));
    EXPECT_TRUE(Gave(ACL_ERROR_RT_NO_PERMISSION, other_.Run(&ImportPhysical, wanted)));
    ASSERT_TRUE(IsOk(aclrtMemSetPidToShareableHandle(own.at[3], pids + 2, 1)));
    EXPECT_TRUE(Gave(0, other_.Run(&ImportPhysical, wanted)));
    Drop(own);
}

TEST_F(SharedMemoryTest, OneToOne) {
    const Words own = Exported();
    uint64_t again = 0;
    EXPECT_TRUE(IsError(
        ACL_ERROR_RT_PARAM_INVALID,
        aclrtMemExportToShareableHandle(own.Pointer(2), ACL_MEM_HANDLE_TYPE_NONE, 0, &again),
        {"aclrtMemExportToShareableHandle: ", "handle"}));
    EXPECT_EQ(again, 0U);
    void* handle = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtMemImportFromShareableHandle(own.at[3], 0, &handle),
                        {"aclrtMemImportFromShareableHandle: ", "shareableHandle"}));
    EXPECT_EQ(handle, nullptr);
    const Words wanted{0, kSharedUnit, 0, own.at[3]};
    const Words there = other_.Run(&ImportPhysical, wanted);
    ASSERT_TRUE(Gave(0, there));
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, other_.Run(&ImportPhysical, wanted)));
    EXPECT_TRUE(Gave(0, other_.Run(&DropPhysical, there)));
    EXPECT_TRUE(Gave(0, other_.Run(&ImportPhysical, wanted))) << "free again, import again";
    const auto exportThere = [](Words* w) {
        Keep(w, aclrtMemExportToShareableHandle(w->Pointer(2), ACL_MEM_HANDLE_TYPE_NONE, 0,
                                                &w->at[3]));
    };
    EXPECT_TRUE(Gave(ACL_ERROR_RT_INVALID_HANDLE, other_.Run(exportThere, there)));
    Drop(own);
}

TEST_F(SharedMemoryTest, FreedMemoryIsNotImported) {
    const Words own = Exported();
    const Words unused{0, kSharedUnit, 0, own.at[3]};
    Drop(own);
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, other_.Run(&ImportPhysical, unused)));
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID,
                     other_.Run(&ImportPhysical, {0, kSharedUnit, 0, 0x1234500000001})));
}

// The exporter frees first, and gets other memory: that must not be the importer's.
TEST_F(SharedMemoryTest, ItLivesUntilTheLastProcessHasLetGo) {
    const Words own = Exported();
    const Words there = other_.Run(&ImportPhysical, {0, kSharedUnit, 0, own.at[3]});
    ASSERT_TRUE(Gave(0, other_.Run(&FillThere, {there.at[0], kSharedUnit, 5})));
    Drop(own);
    Words more{0, 4 * kSharedUnit};
    MakePhysical(&more);
    ASSERT_TRUE(IsOk(aclrtMemset(more.Pointer(0), more.at[1], 6, more.at[1])));
    EXPECT_EQ(other_.Run(&CountThere, {there.at[0], kSharedUnit, 5}).at[2], 0U);
    EXPECT_TRUE(Gave(0, other_.Run(&FillThere, {there.at[0], kSharedUnit, 8})));
    EXPECT_TRUE(HasAll(more.Pointer(0), more.at[1], 6));
    EXPECT_TRUE(Gave(0, other_.Run(&DropPhysical, there)));
    Drop(more);
}

TEST_F(SharedMemoryTest, TheExporterIsKilled) {
    Words there = other_.Run(&MakePhysical, {0, kSharedUnit});
    ASSERT_TRUE(Gave(0, there));
    there = other_.Run(
        [](Words* w) {
            Keep(w, aclrtMemExportToShareableHandle(w->Pointer(2), ACL_MEM_HANDLE_TYPE_NONE, kToAll,
                                                    &w->at[3]));
        },
        there);
    ASSERT_TRUE(Gave(0, other_.Run(&FillThere, {there.at[0], kSharedUnit, 4})));
    Words own{0, kSharedUnit, 0, there.at[3]};
    ImportPhysical(&own);
    ASSERT_TRUE(Gave(0, own));
    other_.Kill();
    EXPECT_TRUE(HasAll(own.Pointer(0), kSharedUnit, 4));
    EXPECT_TRUE(IsOk(aclrtMemset(own.Pointer(0), kSharedUnit, 5, kSharedUnit)));
    Drop(own);
    Words again{0, kSharedUnit, 0, there.at[3]};
    ImportPhysical(&again);
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, again));
}

// A child of the exporter has none of its sockets: keys are refused at once when the exporter ends.
TEST_F(SharedMemoryTest, TheExporterHasForkedAndIsKilled) {
    if (support::kAddressSanitizer) {
        GTEST_SKIP() << "its allocator does not survive a fork among threads";
    }
    const Words there = other_.Run([](Words* w) {
        w->at[1] = kSharedUnit;
        MakePhysical(w);
        Keep(w, aclrtMemExportToShareableHandle(w->Pointer(2), ACL_MEM_HANDLE_TYPE_NONE, kToAll,
                                                &w->at[3]));
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            pause();  // longer than its parent lives
            _exit(0);
        }
        w->at[0] = static_cast<uint64_t>(child);
    });
    ASSERT_TRUE(Gave(0, there));
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the child becomes one of this process
    other_.Kill();
    Words own{0, kSharedUnit, 0, there.at[3]};
    ImportPhysical(&own);
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, own));
    const auto child = static_cast<pid_t>(there.at[0]);
    EXPECT_EQ(kill(child, SIGKILL), 0) << "it is still there";
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

TEST_F(SharedMemoryTest, AnImporterIsKilledAndAThirdGoesOn) {
    const Words own = Exported();
    const Words wanted{0, kSharedUnit, 0, own.at[3]};
    ChildProcess third;
    ASSERT_TRUE(Gave(0, third.Run(&Begin)));
    ASSERT_TRUE(Gave(0, other_.Run(&ImportPhysical, wanted)));
    const Words there = third.Run(&ImportPhysical, wanted);
    ASSERT_TRUE(Gave(0, there));
    other_.Kill();
    Drop(own);
    EXPECT_TRUE(Gave(0, third.Run(&FillThere, {there.at[0], kSharedUnit, 2})));
    EXPECT_EQ(third.Run(&CountThere, {there.at[0], kSharedUnit, 2}).at[2], 0U);
}

TEST_F(SharedMemoryTest, AnEndOfTheRuntimeOnEitherSide) {
    const Words own = Exported();
    const Words there = other_.Run(&ImportPhysical, {0, kSharedUnit, 0, own.at[3]});
    ASSERT_TRUE(Gave(0, other_.Run(&FillThere, {there.at[0], kSharedUnit, 1})));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_EQ(other_.Run(&CountThere, {there.at[0], kSharedUnit, 1}).at[2], 0U);
    const auto resetAndImport = [](Words* w) {
        Keep(w, aclrtResetDevice(0));
        Keep(w, aclrtSetDevice(0));
        ImportPhysical(w);
    };
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, other_.Run(resetAndImport, there)));
    const Words fresh = Exported();
    EXPECT_TRUE(Gave(0, other_.Run(&ImportPhysical, {0, kSharedUnit, 0, fresh.at[3]})));
}

TEST_F(SharedMemoryTest, Refusals) {
    const Words own = Exported();
    void* const handle = own.Pointer(2);
    uint64_t shareable = own.at[3];
    uint64_t none = 0;
    void* made = nullptr;
    int32_t pid = 1;
    const auto bad = static_cast<aclrtMemSharedHandleType>(3);
    constexpr auto kType = ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT;
    constexpr auto kNone = ACL_MEM_HANDLE_TYPE_NONE;
    constexpr int kNull = ACL_ERROR_INVALID_PARAM;
    constexpr int kRange = ACL_ERROR_RT_PARAM_INVALID;
    EXPECT_TRUE(
        IsError(kNull, aclrtMemExportToShareableHandle(nullptr, kNone, 0, &none), {"handle"}));
    EXPECT_TRUE(IsError(kNull, aclrtMemExportToShareableHandle(handle, kNone, 0, nullptr),
                        {"shareableHandle"}));
    EXPECT_TRUE(
        IsError(kNull, aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_POSIX, 0, &none),
                {"handleType"}));
    EXPECT_TRUE(
        IsError(kRange, aclrtMemExportToShareableHandle(handle, kNone, 2, &none), {"flags"}));
    EXPECT_TRUE(
        IsError(kRange, aclrtMemExportToShareableHandleV2(handle, 0, bad, &none), {"shareType"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE,
                        aclrtMemExportToShareableHandle(&pid, kNone, 0, &none), {"handle"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID,
                        aclrtMemImportFromShareableHandle(shareable, 99, &made), {"99"}));
    EXPECT_TRUE(IsError(kNull, aclrtMemImportFromShareableHandleV2(&shareable, kType, 1, &made),
                        {"flags"}));
    EXPECT_TRUE(IsError(kNull, aclrtMemSetPidToShareableHandle(shareable, nullptr, 1), {"pid"}));
    EXPECT_TRUE(IsError(kNull, aclrtMemSetPidToShareableHandle(shareable, &pid, 0), {"pidNum"}));
    EXPECT_TRUE(IsError(kRange, aclrtMemSetPidToShareableHandle(1, &pid, 1),
                        {"shareableHandle", "this process does not have"}));
    aclrtMemFabricHandle fabric{};
    EXPECT_TRUE(IsError(
        kRange,
        aclrtMemImportFromShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &made),
        {"shareableHandle"}));
    EXPECT_EQ(made, nullptr);
    Drop(own);
}

// A child made by fork starts anew: it imports what its parent exports, as any other process does.
TEST_F(SharedMemoryTest, AChildMadeByForkImportsFromItsParent) {
    if (support::kThreadSanitizer || support::kAddressSanitizer) {
        GTEST_SKIP() << "the sanitizers take no fork among threads";
    }
    const Words own = Exported();
    ChildProcess child(ChildProcess::Kind::kFork);
    ASSERT_TRUE(Gave(0, child.Run(&Begin)));
    const Words there = child.Run(&ImportPhysical, {0, kSharedUnit, 0, own.at[3]});
    ASSERT_TRUE(Gave(0, there));
    EXPECT_TRUE(Gave(0, child.Run(&FillThere, {there.at[0], kSharedUnit, 11})));
    EXPECT_TRUE(HasAll(own.Pointer(0), kSharedUnit, 11));
    EXPECT_TRUE(Gave(0, other_.Run(&ImportPhysical, {0, kSharedUnit, 0, own.at[3]})));
    Drop(own);
}

}  // namespace
}  // namespace conformance
