// SPDX-License-Identifier: Apache-2.0
// Copies, fills and replays of threads with contexts of their own, while another thread resets the
// device, which frees their memory.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using support::IsOk;

// A block, and the context of its thread, which a reset leaves alone.
struct Site {
    char* block = nullptr;
    aclrtStream stream = nullptr;
    aclmdlRI model = nullptr;
};

struct ResetCase {
    std::string name;
    size_t bytes;  // 4096 and more: pages of a file, less: memory of the host's allocator
    aclError (*work)(const Site& site, size_t bytes);
    bool replays = false;
};

class MemoryResetStressTest : public support::EndedRuntimeTest,
                              public testing::WithParamInterface<ResetCase> {
 protected:
    static constexpr int kRounds = 2000;

    // A call may find that its memory is gone, and nothing else.
    static bool IsExpected(aclError code) {
        return code == ACL_SUCCESS || code == ACL_ERROR_RT_PARAM_INVALID;
    }
    static void Capture(Site* site, size_t bytes) {
        aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
        EXPECT_TRUE(IsOk(aclmdlRICaptureThreadExchangeMode(&mode)));
        EXPECT_TRUE(IsOk(aclmdlRICaptureBegin(site->stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED)));
        const aclError filled = aclrtMemsetAsync(site->block, bytes, 7, bytes, site->stream);
        EXPECT_TRUE(IsExpected(filled)) << filled;
        EXPECT_TRUE(IsOk(aclmdlRICaptureEnd(site->stream, &site->model)));
    }
    static void Work(std::atomic<bool>* over) {
        const ResetCase& row = GetParam();
        aclrtContext context = nullptr;
        ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
        Site site;
        ASSERT_TRUE(IsOk(aclrtCreateStream(&site.stream)));
        for (int round = 0; round < kRounds && !HasFailure(); ++round) {
            void* memory = nullptr;
            ASSERT_TRUE(IsOk(aclrtMalloc(&memory, row.bytes, ACL_MEM_MALLOC_HUGE_FIRST)));
            site.block = static_cast<char*>(memory);
            if (row.replays) {
                Capture(&site, row.bytes);
            }
            for (int call = 0; call < 4; ++call) {
                const aclError code = row.work(site, row.bytes);
                EXPECT_TRUE(IsExpected(code)) << code;
            }
            EXPECT_TRUE(IsOk(aclrtSynchronizeStream(site.stream)));
            if (row.replays) {
                EXPECT_TRUE(IsOk(aclmdlRIDestroy(site.model)));
            }
            const aclError freed = aclrtFree(memory);
            EXPECT_TRUE(IsExpected(freed)) << freed;
        }
        EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
        *over = true;
    }
};

// The sanitizers watch the memory.
TEST_P(MemoryResetStressTest, NothingTouchesFreedMemory) {
    ASSERT_TRUE(IsOk(aclInit(nullptr)));
    std::atomic<bool> over{false};
    std::thread worker([&] { Work(&over); });
    for (bool force = false; !over; force = !force) {
        EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
        EXPECT_TRUE(IsOk(force ? aclrtResetDeviceForce(0) : aclrtResetDevice(0)));
    }
    worker.join();
    EXPECT_TRUE(IsOk(aclFinalize()));
}

aclError CopyNow(const Site& site, size_t bytes) {
    const std::vector<char> host(bytes, 'h');
    return aclrtMemcpy(site.block, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
}
aclError FillNow(const Site& site, size_t bytes) {
    return aclrtMemset(site.block, bytes, 7, bytes);
}
aclError CopyInStream(const Site& site, size_t bytes) {
    return aclrtMemcpyAsync(site.block, bytes / 2, site.block + bytes / 2, bytes / 2,
                            ACL_MEMCPY_DEVICE_TO_DEVICE, site.stream);
}
aclError FillInStream(const Site& site, size_t bytes) {
    return aclrtMemsetAsync(site.block, bytes, 7, bytes, site.stream);
}
aclError Replay(const Site& site, size_t) { return aclmdlRIExecuteAsync(site.model, site.stream); }

INSTANTIATE_TEST_SUITE_P(Table, MemoryResetStressTest,
                         testing::Values(ResetCase{"Copy", 2048, &CopyNow},
                                         ResetCase{"CopyOfPages", 8192, &CopyNow},
                                         ResetCase{"Fill", 2048, &FillNow},
                                         ResetCase{"CopyInStream", 2048, &CopyInStream},
                                         ResetCase{"FillOfPagesInStream", 8192, &FillInStream},
                                         ResetCase{"Replay", 2048, &Replay, true}),
                         support::CaseName());

}  // namespace
