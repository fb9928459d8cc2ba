// SPDX-License-Identifier: Apache-2.0
// ADVANCE_STEP_LEAKS: handles of physical memory, and memory of other processes.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "acl/acl.h"
#include "support/host_work.h"
#include "support/leak_death_test.h"
#include "support/runtime_test.h"
#include "support/sanitizers.h"
#include "support/status.h"

namespace {

using support::Allocate;
using support::IsError;
using support::IsOk;
using support::LeakDeathTest;
using support::Need;
using support::Start;
using testing::AllOf;
using testing::ExitedWithCode;
using testing::HasSubstr;

class MemoryUseTest : public support::DeviceTest {};

aclrtDrvMemHandle Physical() {
    aclrtPhysicalMemProp property{};
    property.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    property.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    property.memAttr = ACL_HBM_MEM_HUGE;
    property.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    aclrtDrvMemHandle handle = nullptr;
    Need(aclrtMallocPhysical(&handle, 2 << 20, &property, 0));
    return handle;
}

TEST_F(LeakDeathTest, PhysicalMemoryIsAnObjectUntilItsLastUse) {
    EXPECT_EXIT(
        {
            Start("report");
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
            Need(aclFinalize());
            std::exit(0);
        },
        ExitedWithCode(0),
        AllOf(HasSubstr("3 objects"),
              HasSubstr("2 handles of physical memory, 4194304 bytes, of aclrtMallocPhysical"),
              HasSubstr("1 handle of physical memory, of aclrtMemRetainAllocationHandle")));
}

TEST_F(LeakDeathTest, AnImportIsAnObject) {
    if (support::kThreadSanitizer) {
        GTEST_SKIP() << "that sanitizer takes no threads in the child of a fork";
    }
    char keys[2][65];
    int ready[2];
    int done[2];
    ASSERT_EQ(0, pipe(ready));
    ASSERT_EQ(0, pipe(done));
    const pid_t exporter = fork();
    if (exporter == 0) {
        close(done[1]);
        Start("off");
        for (char(&key)[65] : keys) {
            Need(aclrtIpcMemGetExportKey(Allocate(4096), 4096, key, sizeof(key),
                                         ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
        }
        Need(write(ready[1], keys, sizeof(keys)) == sizeof(keys) ? 0 : 1);
        (void)!read(done[0], keys, 1);
        std::_Exit(0);
    }
    close(ready[1]);  // so that the end of the exporter is the end of the pipe
    ASSERT_EQ(static_cast<ssize_t>(sizeof(keys)), read(ready[0], keys, sizeof(keys)));
    EXPECT_EXIT(
        {
            Start("report");
            for (const char(&key)[65] : keys) {
                void* memory = nullptr;
                Need(aclrtIpcMemImportByKey(&memory, key, 0));
            }
            Need(aclrtIpcMemClose(keys[1]));
            Need(aclFinalize());
            std::exit(0);
        },
        ExitedWithCode(0),
        AllOf(HasSubstr("1 object was"),
              HasSubstr("1 import of device memory, of aclrtIpcMemImportByKey")));
    close(done[1]);
    waitpid(exporter, nullptr, 0);
}

TEST_F(MemoryUseTest, LeavesOutWhatWasUnmappedAndFreedWhileWorkUsedIt) {
    const aclrtDrvMemHandle handle = Physical();
    void* address = nullptr;
    ASSERT_TRUE(IsOk(aclrtReserveMemAddress(&address, 2 << 20, 0, nullptr, 0)));
    ASSERT_TRUE(IsOk(aclrtMapMem(address, 2 << 20, 0, handle, 0)));
    aclrtStream stream = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateStream(&stream)));
    const support::HostGate gate(stream);
    ASSERT_TRUE(IsOk(aclrtMemsetAsync(address, 2 << 20, 1, 2 << 20, stream)));
    ASSERT_TRUE(IsOk(aclrtUnmapMem(address)));
    ASSERT_TRUE(IsOk(aclrtFreePhysical(handle)));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream)));
    aclrtMemUsageInfo use;
    size_t count = 0;
    ASSERT_TRUE(IsOk(aclrtGetMemUsageInfo(0, &use, 1, &count)));
    EXPECT_EQ(use.curMemSize, 0U);
}

TEST_F(MemoryUseTest, NamesTheFieldThatHasTheBadDevice) {
    int32_t id = 0;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetLogicDevIdByUserDevId(9, &id),
                        {"userDevid is 9"}));
    aclrtPhysicalMemProp property{};
    property.memAttr = ACL_HBM_MEM_HUGE;
    property.location = {9, ACL_MEM_LOCATION_TYPE_DEVICE};
    aclrtDrvMemHandle handle = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID,
                        aclrtMallocPhysical(&handle, 2 << 20, &property, 0),
                        {"prop.location.id is 9"}));
    aclrtMemAccessDesc desc[2]{};
    desc[0].location.type = desc[1].location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    desc[1].location.id = 7;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemSetAccess(&id, 2 << 20, desc, 2),
                        {"desc[1].location.id is 7"}));
    uint64_t flags = 0;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID,
                        aclrtMemGetAccess(&id, &desc[1].location, &flags), {"location.id is 7"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtMemSetPidToShareableHandle(77, &id, 1),
                        {"shareableHandle is 0x4d"}));
}

}  // namespace
