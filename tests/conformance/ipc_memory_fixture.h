// SPDX-License-Identifier: Apache-2.0
// Blocks of aclrtMalloc between two processes.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_IPC_MEMORY_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_IPC_MEMORY_FIXTURE_H_

#include <string>

#include "conformance/sharing.h"

namespace conformance {

class IpcMemoryTest : public SharingTest {
 protected:
    static constexpr size_t kBytes = 3 * 4096 + 100;
    static constexpr size_t kGiB = size_t{1} << 30;

    static std::string KeyOf(void* block, uint64_t flags = kToAll) {
        char key[65] = {};
        EXPECT_TRUE(IsOk(aclrtIpcMemGetExportKey(block, 1, key, sizeof(key), flags)));
        return key;
    }
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_IPC_MEMORY_FIXTURE_H_
