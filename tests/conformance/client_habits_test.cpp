// SPDX-License-Identifier: Apache-2.0
// Habits of real clients that the runtime must bear: each test is in the style of one of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "conformance/virtual_memory_fixture.h"
#include "support/host_work.h"

namespace {

using conformance::kUnit;
using conformance::Property;
using namespace support;

constexpr int kNoContext = ACL_ERROR_RT_CONTEXT_NULL;

class ClientHabitsTest : public support::DeviceTest {};

// A tensor library asserts that each buffer begins at a multiple of 128.
TEST_F(ClientHabitsTest, EveryBufferIsAligned) {
    std::vector<DeviceBuffer> kept;
    for (const size_t size :
         {1, 3, 64, 100, 511, 512, 513, 4000, 4095, 4096, 5000, 70000, 2097151, 2097152, 3000000}) {
        for (int round = 0; round < 4; ++round) {
            kept.emplace_back(size);
            const auto address = reinterpret_cast<uintptr_t>(kept.back().Get());
            EXPECT_EQ(address % 512, 0U) << size;
        }
    }
}

TEST_F(ClientHabitsTest, BlocksBeginAtPagesFromTheSizeOfOneOn) {
    if (!support::TestGuard().empty()) {
        GTEST_SKIP() << "a guarded block ends at a page";
    }
    std::vector<DeviceBuffer> kept;
    for (const size_t size : {4096, 4097, 100000, 2097151}) {
        kept.emplace_back(size);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(kept.back().Get()) % 4096, 0U) << size;
    }
}

// A pool reserves as many addresses as the device has bytes, and maps as it grows.
TEST_F(ClientHabitsTest, APoolReservesAllOfTheDevice) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_MEMORY", "67108863"}}));
    size_t free = 0;
    size_t total = 0;
    ASSERT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
    EXPECT_EQ(total, size_t{62} << 20);
    EXPECT_EQ(free, total);
    void* pool = nullptr;
    ASSERT_TRUE(IsOk(aclrtReserveMemAddress(&pool, total, 0, nullptr, 1)));
    const aclrtPhysicalMemProp prop = Property();
    aclrtDrvMemHandle handle = nullptr;
    ASSERT_TRUE(IsOk(aclrtMallocPhysical(&handle, total, &prop, 0)));
    ASSERT_TRUE(IsOk(aclrtMapMem(pool, total, 0, handle, 0)));
    EXPECT_TRUE(IsOk(aclrtMemset(pool, total, 7, total)));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(pool)));
    EXPECT_TRUE(IsOk(aclrtFreePhysical(handle)));
    EXPECT_TRUE(IsOk(aclrtReleaseMemAddress(pool)));
}

TEST_F(ClientHabitsTest, TheUsualTotalIsAWholeNumberOfUnits) {
    size_t free = 0;
    size_t total = 0;
    ASSERT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
    EXPECT_EQ(total % kUnit, 0U);
}

// An allocator probes with 512 bytes, before any device has been set.
TEST_F(ClientHabitsTest, SegmentsNeedNoContext) {
    std::thread([] {
        aclrtContext context = nullptr;
        ASSERT_TRUE(IsCode(kNoContext, aclrtGetCurrentContext(&context)));
        void* range = nullptr;
        ASSERT_TRUE(IsOk(aclrtReserveMemAddress(&range, 512, 0, nullptr, 1)));
        EXPECT_EQ(reinterpret_cast<uintptr_t>(range) % kUnit, 0U);
        const aclrtPhysicalMemProp prop = Property();
        aclrtDrvMemHandle handle = nullptr;
        ASSERT_TRUE(IsOk(aclrtMallocPhysical(&handle, kUnit, &prop, 0)));
        EXPECT_TRUE(IsOk(aclrtMapMem(range, kUnit, 0, handle, 0))) << "the size was rounded up";
        EXPECT_TRUE(IsOk(aclrtUnmapMem(range)));
        EXPECT_TRUE(IsOk(aclrtFreePhysical(handle)));
        EXPECT_TRUE(IsOk(aclrtReleaseMemAddress(range)));
        EXPECT_TRUE(IsCode(kNoContext, aclrtGetCurrentContext(&context))) << "none was made";
    }).join();
}

TEST_F(ClientHabitsTest, AReservationOfNoDeviceOutlivesItsReset) {
    void* range = nullptr;
    std::thread([&] {
        ASSERT_TRUE(IsOk(aclrtReserveMemAddress(&range, 1, 0, nullptr, 0)));
    }).join();
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_TRUE(IsOk(aclrtReleaseMemAddress(range)));
}

TEST_F(ClientHabitsTest, AReservationTooLargeToRoundUpIsRefused) {
    void* range = nullptr;
    for (const size_t size : {SIZE_MAX, SIZE_MAX - kUnit + 2}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_MEMORY_ALLOCATION,
                            aclrtReserveMemAddress(&range, size, 0, nullptr, 0),
                            {"aclrtReserveMemAddress: ", "size"}));
    }
    EXPECT_EQ(range, nullptr);
}

// A batch that turned out empty is copied all the same.
TEST_F(ClientHabitsTest, NothingIsCopiedWithoutALook) {
    const auto kind = static_cast<aclrtMemcpyKind>(99);
    EXPECT_TRUE(IsOk(aclrtMemcpy(nullptr, 0, nullptr, 0, kind)));
    EXPECT_TRUE(IsOk(aclrtMemcpyAsync(nullptr, 0, nullptr, 0, kind, nullptr)));
    EXPECT_TRUE(IsOk(aclrtMemcpyAsync(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_HOST, nullptr)));
    EXPECT_TRUE(IsOk(aclrtMemset(nullptr, 0, 1, 0)));
    EXPECT_TRUE(IsOk(aclrtMemsetAsync(nullptr, 0, 1, 0, nullptr)));
}

TEST_F(ClientHabitsTest, NothingIsCopiedOnALiveStreamOfThisContextOnly) {
    support::Stream stream = support::MakeStream();
    void* const handle = stream.Get();
    stream = support::Stream();
    constexpr auto kKind = ACL_MEMCPY_DEFAULT;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE,
                        aclrtMemcpyAsync(nullptr, 0, nullptr, 0, kKind, handle)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtMemsetAsync(nullptr, 0, 0, 0, handle)));
    std::thread([] {
        EXPECT_TRUE(IsError(kNoContext, aclrtMemcpy(nullptr, 0, nullptr, 0, kKind)));
        EXPECT_TRUE(IsError(kNoContext, aclrtMemcpyAsync(nullptr, 0, nullptr, 0, kKind, nullptr)));
        EXPECT_TRUE(IsError(kNoContext, aclrtMemset(nullptr, 0, 0, 0)));
        EXPECT_TRUE(IsError(kNoContext, aclrtMemsetAsync(nullptr, 0, 0, 0, nullptr)));
    }).join();
}

TEST_F(ClientHabitsTest, NothingIsCaptured) {
    const support::Stream stream = support::MakeStream();
    std::vector<char> pageable(8);
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_GLOBAL)));
    EXPECT_TRUE(IsOk(aclrtMemcpyAsync(pageable.data(), 8, pageable.data(), 0,
                                      ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtMemsetAsync(nullptr, 0, 0, 0, stream.Get())));
    EXPECT_TRUE(IsOk(aclmdlRICaptureTaskGrpBegin(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtMemsetAsync(nullptr, 0, 0, 0, stream.Get()))) << "no task, so no refusal";
    aclrtTaskGrp group = nullptr;
    EXPECT_TRUE(IsOk(aclmdlRICaptureTaskGrpEnd(stream.Get(), &group)));
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
}

// Two streams hand work to each other with one plain event, and reset it after each wait.
TEST_F(ClientHabitsTest, APlainEventIsResetAfterEachWait) {
    const support::Stream first = support::MakeStream();
    const support::Stream second = support::MakeStream();
    const support::Event event = support::MakeEvent();
    std::vector<int> order;
    for (int round = 0; round < 50; ++round) {
        ASSERT_TRUE(IsOk(support::Enqueue(first.Get(), [&, round] { order.push_back(round); })));
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), first.Get())));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(second.Get(), event.Get())));
        ASSERT_TRUE(IsOk(aclrtResetEvent(event.Get(), second.Get())));
        ASSERT_TRUE(IsOk(support::Enqueue(second.Get(), [&, round] { order.push_back(-round); })));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(second.Get())));
    }
    ASSERT_EQ(order.size(), 100U);
    for (int round = 0; round < 50; ++round) {
        EXPECT_EQ(order[static_cast<size_t>(2 * round)], round);
        EXPECT_EQ(order[static_cast<size_t>(2 * round) + 1], -round);
    }
}

TEST_F(ClientHabitsTest, ADeadContextLeavesTheCurrentOne) {
    const aclrtContext primary = support::CurrentContext();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    ASSERT_TRUE(IsOk(aclrtDestroyContext(context)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(context),
                        {"aclrtSetCurrentContext: ", "context"}));
    EXPECT_EQ(support::CurrentContext(), primary);
}

}  // namespace
