// SPDX-License-Identifier: Apache-2.0
// Notifies, events and memory of several processes at their limits, and while other threads act.
#include <sys/resource.h>

#include "conformance/sharing.h"

namespace conformance {
namespace {

using SharedSyncEdgesTest = SharingTest;

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
        const rlimit limit{4096, 4096};
        Keep(w, setrlimit(RLIMIT_FSIZE, &limit));
        void* block = nullptr;
        Keep(w, aclrtMalloc(&block, size_t{300} << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    });
    EXPECT_TRUE(Gave(ACL_ERROR_RT_MEMORY_ALLOCATION, there));
}

}  // namespace
}  // namespace conformance
