// SPDX-License-Identifier: Apache-2.0
// Blocks of aclrtMalloc that processes share by keys, from the export to the end of either side,
// and who may import them.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "conformance/ipc_memory_fixture.h"
#include "support/sanitizers.h"

namespace conformance {
namespace {

TEST_F(IpcMemoryTest, BothProcessesHaveTheSameBytes) {
    for (const size_t bytes : {size_t{4096}, kBytes, size_t{1} << 20, 2 * kSharedUnit, kGiB / 2}) {
        const support::DeviceBuffer block(bytes);
        ASSERT_TRUE(IsOk(aclrtMemset(block.Get(), bytes, 7, std::min(bytes, 4 * kSharedUnit))));
        const size_t some = std::min(bytes, kSharedUnit);
        const Words there = other_.Run(&ImportBlock, WithText(KeyOf(block.Get())));
        ASSERT_TRUE(Gave(0, there));
        EXPECT_EQ(other_.Run(&CountThere, {there.at[0], some, 7}).at[2], 0U);
        EXPECT_TRUE(Gave(0, other_.Run(&FillThere, {there.at[0] + bytes - some, some, 9})));
        EXPECT_TRUE(HasAll(block.At(bytes - some), some, 9));
        EXPECT_TRUE(Gave(0, other_.Run(&CloseBlock, WithText(KeyOf(block.Get())))));
    }
}

TEST_F(IpcMemoryTest, EachImportHasItsOwnAddressAndTheOldestIsClosedFirst) {
    const support::DeviceBuffer block(kBytes);
    const std::string key = KeyOf(block.Get());
    std::set<uint64_t> addresses;
    uint64_t first = 0;
    uint64_t last = 0;
    for (int i = 0; i < 3; ++i) {
        const Words there = other_.Run(&ImportBlock, WithText(key));
        ASSERT_TRUE(Gave(0, there));
        addresses.insert(there.at[0]);
        first = i == 0 ? there.at[0] : first;
        last = there.at[0];
    }
    EXPECT_EQ(addresses.size(), 3U);
    EXPECT_TRUE(Gave(0, other_.Run(&CloseBlock, WithText(key))));
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, other_.Run(&FillThere, {first, kBytes, 1})));
    EXPECT_TRUE(Gave(0, other_.Run(&FillThere, {last, kBytes, 2})));
    EXPECT_TRUE(HasAll(block.Get(), kBytes, 2));
    EXPECT_TRUE(Gave(0, other_.Run(&CloseBlock, WithText(key))));
    EXPECT_TRUE(Gave(0, other_.Run(&CloseBlock, WithText(key))));
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, other_.Run(&CloseBlock, WithText(key))));
}

// An import by this process, which has exported the block.
Words ImportHere(const std::string& key) {
    Words own = WithText(key);
    ImportBlock(&own);
    EXPECT_TRUE(Gave(0, own));
    return own;
}

TEST_F(IpcMemoryTest, TheExporterImportsItsOwn) {
    const support::DeviceBuffer block(kBytes);
    const std::string key = KeyOf(block.Get(), 0);
    const Words own = ImportHere(key);
    EXPECT_NE(own.Pointer(0), block.Get());
    ASSERT_TRUE(IsOk(aclrtMemset(own.Pointer(0), kBytes, 3, kBytes)));
    EXPECT_TRUE(HasAll(block.Get(), kBytes, 3));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(own.Pointer(0)), {"devPtr"}));
    EXPECT_TRUE(IsOk(aclrtIpcMemClose(key.c_str()))) << "its import";
    EXPECT_TRUE(IsOk(aclrtIpcMemClose(key.c_str()))) << "its export";
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemClose(key.c_str()), {"key"}));
    EXPECT_NE(KeyOf(block.Get()), key) << "a new export";
}

bool IsMapped(const void* address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        uintptr_t begin = 0, end = 0;
        char dash = 0;
        std::istringstream(line) >> std::hex >> begin >> dash >> end;
        const auto wanted = reinterpret_cast<uintptr_t>(address);
        if (begin <= wanted && wanted < end && line.find("advance_step") != std::string::npos) {
            return true;
        }
    }
    return false;
}

TEST_F(IpcMemoryTest, AClosedImportGivesItsAddressesBack) {
    const support::DeviceBuffer block(kBytes);
    const std::string key = KeyOf(block.Get(), 0);
    const Words own = ImportHere(key);
    ASSERT_TRUE(IsMapped(own.Pointer(0)));
    ASSERT_TRUE(IsOk(aclrtIpcMemClose(key.c_str())));
    EXPECT_FALSE(IsMapped(own.Pointer(0)));
}

TEST_F(IpcMemoryTest, AKeyIsExportedOnceAndADestroyedOneRefusesImports) {
    const support::DeviceBuffer block(kBytes);
    const std::string key = KeyOf(block.Get());
    EXPECT_EQ(KeyOf(block.Get()), key);
    EXPECT_LE(key.size(), 64U);
    const Words there = other_.Run(&ImportBlock, WithText(key));
    ASSERT_TRUE(Gave(0, there));
    ASSERT_TRUE(IsOk(aclrtIpcMemClose(key.c_str())));
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, other_.Run(&ImportBlock, WithText(key))));
    EXPECT_TRUE(Gave(0, other_.Run(&FillThere, {there.at[0], kBytes, 6})));
    EXPECT_TRUE(HasAll(block.Get(), kBytes, 6)) << "its mapping lives until it is closed";
}

// Freed while another process has it: its pages are not given out again.
TEST_F(IpcMemoryTest, FreedFirst) {
    support::DeviceBuffer block(kBytes);
    const std::string key = KeyOf(block.Get());
    const Words there = other_.Run(&ImportBlock, WithText(key));
    ASSERT_TRUE(Gave(0, other_.Run(&FillThere, {there.at[0], kBytes, 5})));
    block = support::DeviceBuffer();
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, other_.Run(&ImportBlock, WithText(key))));
    std::vector<support::DeviceBuffer> blocks;
    for (int i = 0; i < 8; ++i) {
        blocks.emplace_back(kBytes);
        ASSERT_TRUE(IsOk(aclrtMemset(blocks.back().Get(), kBytes, 1, kBytes)));
    }
    EXPECT_EQ(other_.Run(&CountThere, {there.at[0], kBytes, 5}).at[2], 0U);
    EXPECT_TRUE(Gave(0, other_.Run(&FillThere, {there.at[0], kBytes, 2})));
    for (const support::DeviceBuffer& other : blocks) {
        EXPECT_TRUE(HasAll(other.Get(), kBytes, 1));
    }
}

TEST_F(IpcMemoryTest, TheExporterIsKilledAndTheImporterResets) {
    const Words there = other_.Run(&ExportBlock, {0, kBytes});
    ASSERT_TRUE(Gave(0, there));
    ASSERT_TRUE(Gave(0, other_.Run(&FillThere, {there.at[0], kBytes, 4})));
    Words own = WithText(there.text);
    ImportBlock(&own);
    ASSERT_TRUE(Gave(0, own));
    other_.Kill();
    EXPECT_TRUE(HasAll(own.Pointer(0), kBytes, 4));
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemClose(there.text), {"key"}));
    Words again = WithText(there.text);
    ImportBlock(&again);
    EXPECT_TRUE(Gave(ACL_ERROR_RT_PARAM_INVALID, again));
}

// What a child made by fork has of a block is a copy: its writes stay its own.
TEST_F(IpcMemoryTest, AChildMadeByForkWritesItsOwnCopy) {
    if (support::kThreadSanitizer) {
        GTEST_SKIP() << "the sanitizer takes no threads in the child of a fork among threads";
    }
    const support::DeviceBuffer block(kBytes);
    ASSERT_TRUE(IsOk(aclrtMemset(block.Get(), kBytes, 7, kBytes)));
    const std::string key = KeyOf(block.Get());
    ChildProcess child(ChildProcess::Kind::kFork);
    const auto write = [](Words* w) {
        char* const bytes = static_cast<char*>(w->Pointer(0));
        w->at[2] = static_cast<uint64_t>(std::count(bytes, bytes + w->at[1], 7));
        std::memset(bytes, 8, w->at[1]);
    };
    EXPECT_EQ(child.Run(write, {AsWord(block.Get()), kBytes}).at[2], kBytes);
    EXPECT_TRUE(HasAll(block.Get(), kBytes, 7));
    ASSERT_TRUE(Gave(0, child.Run(&Begin)));
    const Words there = child.Run(&ImportBlock, WithText(key));
    ASSERT_TRUE(Gave(0, there));
    EXPECT_TRUE(Gave(0, child.Run(&FillThere, {there.at[0], kBytes, 9})));
    EXPECT_TRUE(HasAll(block.Get(), kBytes, 9));
}

// There. Looks at all files of device memory that the process has: at[2]: how many hold the text,
// at[3]: how many could be cut.
void LookIntoFiles(Words* w) {
    w->at[2] = 0;
    w->at[3] = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
        if (target.find("memfd:advance_step") == std::string::npos) {
            continue;
        }
        const int file = std::atoi(entry.path().filename().c_str());
        struct stat about {};
        (void)fstat(file, &about);
        const auto bytes = static_cast<size_t>(about.st_size);
        void* const all = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
        if (all != MAP_FAILED) {
            w->at[2] += memmem(all, bytes, w->text, std::strlen(w->text)) != nullptr ? 1 : 0;
            (void)munmap(all, bytes);
        }
        w->at[3] += ftruncate(file, 4096) == 0 ? 1 : 0;
    }
}

// Other blocks of the exporter are in no file that the importer gets, nor is what was in a freed
// one behind the end of the block. Nobody can cut the file under another process.
TEST_F(IpcMemoryTest, AnImporterGetsTheBlockAndNothingElse) {
    constexpr char kSecret[] = "of a block that nobody has exported";
    constexpr char kShown[] = "of the block that was exported";
    for (const bool large : {false, true}) {
        const size_t bytes = large ? kSharedUnit + 100 : 4096 + 100;
        {
            const support::DeviceBuffer freed(bytes + 4000);
            std::memcpy(freed.At(bytes + 2000), kSecret, sizeof(kSecret));
        }
        const support::DeviceBuffer block(bytes);
        const support::DeviceBuffer secret(bytes);
        std::memset(block.Get(), 0, bytes);  // an earlier block may have left something in it
        std::memcpy(block.Get(), kShown, sizeof(kShown));
        std::memcpy(secret.Get(), kSecret, sizeof(kSecret));
        ASSERT_TRUE(Gave(0, other_.Run(&ImportBlock, WithText(KeyOf(block.Get())))));
        const Words shown = other_.Run(&LookIntoFiles, WithText(kShown));
        EXPECT_EQ(shown.at[2], 1U);
        EXPECT_EQ(shown.at[3], 0U);
        EXPECT_EQ(other_.Run(&LookIntoFiles, WithText(kSecret)).at[2], 0U);
        EXPECT_TRUE(Gave(0, other_.Run(&CloseBlock, WithText(KeyOf(block.Get())))));
    }
}

// There. Exports a notify, and an event in text + 65.
void ExportWords(Words* w) {
    aclrtNotify notify = nullptr;
    aclrtEvent event = nullptr;
    aclrtIpcEventHandle handle{};
    Keep(w, aclrtCreateNotify(&notify, 0)) &&
        Keep(w, aclrtNotifyGetExportKey(notify, w->text, 65,
                                        ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION)) &&
        Keep(w, aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC)) &&
        Keep(w, aclrtIpcGetEventHandle(event, &handle));
    std::memcpy(w->text + 65, &handle, sizeof(handle));
}

// Whatever pages a process has, its own, exported or imported: a child made by fork has copies.
TEST_F(IpcMemoryTest, AChildMadeByForkSharesNoPages) {
    if (support::kThreadSanitizer) {
        GTEST_SKIP() << "the sanitizer takes no threads in the child of a fork among threads";
    }
    const support::DeviceBuffer block(kBytes);
    const support::DeviceBuffer exported(kBytes);
    ImportHere(KeyOf(exported.Get()));
    Words physical{0, kSharedUnit};
    MakePhysical(&physical);
    ASSERT_TRUE(Gave(0, physical));
    const Words words = other_.Run(&ExportWords);
    ASSERT_TRUE(Gave(0, words));
    aclrtNotify notify = nullptr;
    ASSERT_TRUE(IsOk(aclrtNotifyImportByKey(&notify, words.text, 0)));
    aclrtIpcEventHandle handle;
    std::memcpy(&handle, words.text + 65, sizeof(handle));
    aclrtEvent event = nullptr;
    ASSERT_TRUE(IsOk(aclrtIpcOpenEventHandle(handle, &event)));
    const auto countShared = [](Words* w) {
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            const bool device = line.find("memfd:advance_step") != std::string::npos;
            const bool shared = line.compare(line.find(' ') + 4, 1, "s") == 0;
            w->at[0] += device && shared ? 1 : 0;
            w->at[1] += device && !shared ? 1 : 0;
        }
    };
    ChildProcess child(ChildProcess::Kind::kFork);
    const Words there = child.Run(countShared);
    EXPECT_EQ(there.at[0], 0U);
    EXPECT_GE(there.at[1], 5U) << "copies: blocks, the import, the mapping, two states";
    Words here;
    countShared(&here);
    EXPECT_EQ(here.at[1], 0U);
    EXPECT_TRUE(IsOk(aclrtDestroyNotify(notify)));
    EXPECT_TRUE(IsOk(aclrtDestroyEvent(event)));
    EXPECT_TRUE(IsOk(aclrtIpcMemClose(KeyOf(exported.Get()).c_str())));
    DropPhysical(&physical);
}

// Keys of blocks: who may import them, and what is refused.

TEST_F(IpcMemoryTest, OnlyListedProcessesImport) {
    const support::DeviceBuffer block(kBytes);
    std::string key = KeyOf(block.Get(), 0);
    EXPECT_TRUE(Gave(ACL_ERROR_RT_NO_PERMISSION, other_.Run(&ImportBlock, WithText(key))));
    int32_t pid = other_.Pid();
    ASSERT_TRUE(IsOk(aclrtIpcMemSetImportPid(key.c_str(), &pid, 1)));
    EXPECT_TRUE(Gave(0, other_.Run(&ImportBlock, WithText(key))));
    // A list that no program has is not read.
    for (const size_t many : {size_t{65537}, ~size_t{0}}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtIpcMemSetImportPid(key.c_str(), &pid, many),
                            {"num is ", "expected 1 to 65536"}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemSetImportPid(key.c_str(), &pid, 0),
                        {"num"}));
    int32_t none[] = {pid, 0x7fffffff};
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemSetImportPid(key.c_str(), none, 2),
                        {"pid[1] is 2147483647", "expected one that lives"}));
}

// What is open is open to the user's processes, and another user's must be listed.
TEST_F(IpcMemoryTest, AnOpenKeyIsForTheSameUser) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "a process of another user takes root";
    }
    const support::DeviceBuffer block(kSharedUnit);
    const std::string key = KeyOf(block.Get());
    ASSERT_TRUE(Gave(0, other_.Run([](Words* w) {
        constexpr uid_t kNobody = 65534;
        Keep(w, setresuid(kNobody, kNobody, kNobody));
        Keep(w, prctl(PR_SET_DUMPABLE, 1));  // for the search for leaks at its end
    })));
    const Words refused = other_.Run(&ImportBlock, WithText(key));
    EXPECT_TRUE(Gave(ACL_ERROR_RT_NO_PERMISSION, refused));
    EXPECT_NE(std::string(refused.text).find("of user 65534"), std::string::npos) << refused.text;
    int32_t pid = other_.Pid();
    ASSERT_TRUE(IsOk(aclrtIpcMemSetImportPid(key.c_str(), &pid, 1)));
    EXPECT_TRUE(Gave(0, other_.Run(&ImportBlock, WithText(key))));
}

TEST_F(IpcMemoryTest, Refusals) {
    constexpr int kRange = ACL_ERROR_RT_PARAM_INVALID;
    constexpr int kNull = ACL_ERROR_INVALID_PARAM;
    const support::DeviceBuffer block(kBytes);
    const support::DeviceBuffer small(4095);
    const support::PinnedArray<char> pinned(8192);
    char key[65] = "unwritten";
    const auto get = [&](void* address, size_t size, size_t len, uint64_t flags) {
        return aclrtIpcMemGetExportKey(address, size, key, len, flags);
    };
    EXPECT_TRUE(IsError(kNull, get(nullptr, 1, 65, 0), {"devPtr"}));
    EXPECT_TRUE(IsError(kNull, aclrtIpcMemGetExportKey(block.Get(), 1, nullptr, 65, 0), {"key"}));
    EXPECT_TRUE(IsError(kRange, get(block.Get(), 0, 65, 0), {"size"}));
    EXPECT_TRUE(IsError(kRange, get(block.Get(), kBytes + 8192, 65, 0), {"size"}));
    EXPECT_TRUE(IsError(kRange, get(block.Get(), 1, 64, 0), {"len", "64"}));
    EXPECT_TRUE(IsError(kRange, get(block.Get(), 1, 65, 2), {"flags", "0x2"}));
    EXPECT_TRUE(IsError(kRange, get(block.At(4096), 1, 65, 0), {"devPtr"}));
    EXPECT_TRUE(IsError(kRange, get(small.Get(), 1, 65, 0), {"devPtr"}));
    EXPECT_TRUE(IsError(kRange, get(pinned.Get(), 1, 65, 0), {"devPtr"}));
    EXPECT_STREQ(key, "unwritten");
    void* made = nullptr;
    for (const char* text : {"", "no key", "advance_step.notify.0000000100000001",
                             "advance_step.memory.000000010000000Z"}) {
        EXPECT_TRUE(IsError(kRange, aclrtIpcMemImportByKey(&made, text, 0), {"key is", text}))
            << text;
        EXPECT_TRUE(IsError(kRange, aclrtIpcMemClose(text), {"key"})) << text;
    }
    EXPECT_TRUE(
        IsError(kRange, aclrtIpcMemImportByKey(&made, KeyOf(block.Get()).c_str(), 2), {"flags"}));
    EXPECT_EQ(made, nullptr);
}

}  // namespace
}  // namespace conformance
