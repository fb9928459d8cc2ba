// SPDX-License-Identifier: Apache-2.0
// ADVANCE_STEP_LEAKS: handles of physical memory, and memory of other processes.
#include <gmock/gmock.h>

#include <cstdlib>

#include "acl/acl.h"
#include "conformance/virtual_memory_fixture.h"
#include "support/child_process.h"
#include "support/leak_death_test.h"

namespace {

using support::Allocate;
using support::ChildProcess;
using support::LeakDeathTest;
using support::Need;
using support::Start;
using support::Words;
using testing::AllOf;
using testing::ExitedWithCode;
using testing::HasSubstr;

constexpr size_t kKeyRoom = 65;

aclrtDrvMemHandle Physical() {
    const aclrtPhysicalMemProp property = conformance::Property();
    aclrtDrvMemHandle handle = nullptr;
    Need(aclrtMallocPhysical(&handle, conformance::kUnit, &property, 0));
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
    EXPECT_EXIT(
        {
            Start("report");
            for (size_t i = 0; i < 2; ++i) {
                void* memory = nullptr;
                Need(aclrtIpcMemImportByKey(&memory, keys.text + kKeyRoom * i, 0));
            }
            Need(aclrtIpcMemClose(keys.text));
            Need(aclFinalize());
            std::exit(0);
        },
        ExitedWithCode(0),
        AllOf(HasSubstr("1 object was"),
              HasSubstr("1 import of device memory, of aclrtIpcMemImportByKey")));
}

}  // namespace
