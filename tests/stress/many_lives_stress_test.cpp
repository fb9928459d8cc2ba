// SPDX-License-Identifier: Apache-2.0
// Contexts and streams by the hundred thousand, and the memory of the process.
#include <unistd.h>

#include <fstream>

#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using support::IsOk;

constexpr int kLives = 100000;
constexpr long kMostGrowth = 4 << 20;

long ResidentBytes() {
    std::ifstream statm("/proc/self/statm");
    long size = 0;
    long resident = 0;
    statm >> size >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

void OneLife(int life) {
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, life % 2)));
    aclrtStream stream = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateStream(&stream)));
    if (life % 10 == 0) {
        ASSERT_TRUE(IsOk(aclrtLaunchHostFunc(
            stream, [](void*) {}, nullptr)));
    }
    if (life % 2 == 0) {
        ASSERT_TRUE(IsOk(aclrtDestroyStream(stream)));
    }
    ASSERT_TRUE(IsOk(aclrtDestroyContext(context)));  // with the stream, if it is still there
}

class ManyLivesTest : public support::DeviceTest {};

TEST_F(ManyLivesTest, MemoryStaysFlat) {
    for (int life = 0; life < kLives / 100; ++life) {
        ASSERT_NO_FATAL_FAILURE(OneLife(life));
    }
    const long before = ResidentBytes();
    for (int life = 0; life < kLives; ++life) {
        ASSERT_NO_FATAL_FAILURE(OneLife(life));
    }
    const long after = ResidentBytes();
    RecordProperty("residentBytesBefore", std::to_string(before));
    RecordProperty("residentBytesAfter", std::to_string(after));
    std::printf("%d contexts and streams: %ld bytes resident before, %ld after\n", kLives, before,
                after);
    EXPECT_LT(after - before, kMostGrowth);
}

}  // namespace
