// SPDX-License-Identifier: Apache-2.0
// Other forms of memory calls: fills with words, batches without an index, a free of host memory
// that waits, and those that have no effect on a host.
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "conformance/captures.h"
#include "conformance/copy_batch.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace memory_forms {
namespace {

using namespace support;
using conformance::CopyBatch;
using Words = std::vector<uint32_t>;

constexpr aclError kInvalid = ACL_ERROR_RT_PARAM_INVALID;
constexpr uint32_t kWord = 0xA1B2C3D4;

class MemoryFormsTest : public support::DeviceTest {};

TEST_F(MemoryFormsTest, WordsAreSet) {
    const DeviceBuffer device(Words(6, 1));
    EXPECT_TRUE(IsOk(aclrtMemsetD32(device.At(4), 16, kWord, 4)));
    EXPECT_EQ(device.Download<uint32_t>(), (Words{1, kWord, kWord, kWord, kWord, 1}));
    EXPECT_TRUE(IsOk(aclrtMemsetD32(nullptr, 0, kWord, 0))) << "nothing to set";
    const Stream stream = MakeStream();
    EXPECT_TRUE(IsOk(aclrtMemsetD32Async(device.Get(), 24, 7, 2, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtMemsetD32Async(nullptr, 0, 7, 0, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<uint32_t>(), (Words{7, 7, kWord, kWord, kWord, 1}));
    const PinnedArray<uint32_t> pinned(2);
    EXPECT_TRUE(IsOk(aclrtMemsetD32(pinned.Get(), 8, kWord, 2)));
    EXPECT_EQ(pinned.Values(), Words(2, kWord));
}

TEST_F(MemoryFormsTest, WordsOfAStreamComeInOrder) {
    const DeviceBuffer device(Words(2, 1));
    const Stream stream = MakeStream();
    Words seen;
    ASSERT_TRUE(IsOk(aclrtMemsetD32Async(device.Get(), 8, 2, 2, stream.Get())));
    ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [&] {
        const auto* const words = static_cast<const uint32_t*>(device.Get());
        seen.assign(words, words + 2);
    })));
    ASSERT_TRUE(IsOk(aclrtMemsetD32Async(device.Get(), 8, 3, 2, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(seen, Words(2, 2));
    EXPECT_EQ(device.Download<uint32_t>(), Words(2, 3));
}

TEST_F(MemoryFormsTest, WordsAreCapturedAndReplayed) {
    const DeviceBuffer device(Words(2, 1));
    const Stream stream = MakeStream();
    const auto model = conformance::Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(aclrtMemsetD32Async(device.Get(), 8, kWord, 2, stream.Get())));
    });
    EXPECT_EQ(device.Download<uint32_t>(), Words(2, 1));
    for (int i = 0; i < 2; ++i) {
        device.Upload(Words(2, 1));
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        EXPECT_EQ(device.Download<uint32_t>(), Words(2, kWord));
    }
}

TEST_F(MemoryFormsTest, ACaptureForbidsWordsAtOnce) {
    const DeviceBuffer device(Words(2, 1));
    const Stream stream = MakeStream();
    conformance::Begin(stream.Get());
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
                        aclrtMemsetD32(device.Get(), 8, kWord, 2), {"aclrtMemsetD32: "}));
    const auto model = conformance::End(stream.Get());
    EXPECT_EQ(device.Download<uint32_t>(), Words(2, 1));
}

TEST_F(MemoryFormsTest, WrongWordsChangeNothing) {
    const DeviceBuffer device(Words(4, 1));
    const Stream stream = MakeStream();
    std::vector<uint32_t> pageable(4, 1);
    struct {
        void* ptr;
        size_t memSize, words;
        aclError code;
        const char* named;
    } const cases[] = {{nullptr, 16, 4, ACL_ERROR_INVALID_PARAM, "ptr is null"},
                       {device.At(2), 8, 2, kInvalid, "multiple of 4"},
                       {device.Get(), 15, 4, kInvalid, "N is 4 words; expected at most the 3"},
                       {device.Get(), SIZE_MAX, SIZE_MAX / 4, kInvalid, "range of"},
                       {device.Get(), 16, SIZE_MAX / 2, kInvalid, "N is"},
                       {pageable.data(), 16, 4, kInvalid, "in no allocation"}};
    for (const auto& c : cases) {
        EXPECT_TRUE(IsError(c.code, aclrtMemsetD32(c.ptr, c.memSize, kWord, c.words),
                            {"aclrtMemsetD32: ", c.named}));
        EXPECT_TRUE(IsError(c.code,
                            aclrtMemsetD32Async(c.ptr, c.memSize, kWord, c.words, stream.Get()),
                            {"aclrtMemsetD32Async: ", c.named}));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<uint32_t>(), Words(4, 1));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE,
                        aclrtMemsetD32Async(device.Get(), 16, kWord, 4, &pageable)));
}

aclError NowV2(CopyBatch* b) {
    return aclrtMemcpyBatchV2(b->dsts.data(), b->destMaxs.data(), b->srcs.data(), b->sizes.data(),
                              b->dsts.size(), b->attrs.data(), b->attrsIndexes.data(),
                              b->attrs.size());
}

aclError InStreamV2(CopyBatch* b, aclrtStream stream) {
    return aclrtMemcpyBatchAsyncV2(b->dsts.data(), b->destMaxs.data(), b->srcs.data(),
                                   b->sizes.data(), b->dsts.size(), b->attrs.data(),
                                   b->attrsIndexes.data(), b->attrs.size(), stream);
}

TEST_F(MemoryFormsTest, BatchesWithoutAnIndex) {
    const PinnedArray<uint32_t> host(2, 5);
    const DeviceBuffer device(Words(2, 1));
    CopyBatch batch;
    batch.Govern(conformance::kDevice0, conformance::kHost);
    batch.Add(device.At(0), &host[0], 4);
    batch.Add(device.At(4), &host[1], 4);
    EXPECT_TRUE(IsOk(NowV2(&batch)));
    EXPECT_EQ(device.Download<uint32_t>(), Words(2, 5));
    host.Fill(6);
    const Stream stream = MakeStream();
    EXPECT_TRUE(IsOk(InStreamV2(&batch, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<uint32_t>(), Words(2, 6));

    host.Fill(7);
    batch.sizes[1] = batch.destMaxs[1] = 256;
    EXPECT_TRUE(IsError(kInvalid, NowV2(&batch), {"aclrtMemcpyBatchV2: batch 1: "}));
    EXPECT_TRUE(IsError(kInvalid, InStreamV2(&batch, stream.Get()),
                        {"aclrtMemcpyBatchAsyncV2: batch 1: "}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<uint32_t>(), Words(2, 6)) << "all or nothing";
    EXPECT_TRUE(IsError(
        ACL_ERROR_INVALID_PARAM,
        aclrtMemcpyBatchV2(nullptr, nullptr, nullptr, nullptr, 1, nullptr, nullptr, 1), {"dsts"}));
}

TEST_F(MemoryFormsTest, FreeOfHostMemoryWaitsForAllDevices) {
    int local = 0;
    DeviceBuffer device(256);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtFreeHostWithDevSync(nullptr),
                        {"aclrtFreeHostWithDevSync: ", "hostPtr"}));
    for (void* const wrong : {static_cast<void*>(&local), device.Get()}) {
        EXPECT_TRUE(
            IsError(kInvalid, aclrtFreeHostWithDevSync(wrong), {"aclrtFreeHostWithDevSync: "}));
    }
    PinnedArray<uint32_t> pinned(4);
    const Stream stream = MakeStream();
    const support::Recorder recorder;
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    std::thread opener([&] { gate.Open(); });
    void* const memory = pinned.Release();
    EXPECT_TRUE(IsOk(aclrtFreeHostWithDevSync(memory)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
    opener.join();
    EXPECT_TRUE(IsError(kInvalid, aclrtFreeHostWithDevSync(memory)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
}

TEST_F(MemoryFormsTest, FreeOfHostMemoryIsRefusedInsideAHostFunction) {
    PinnedArray<uint32_t> pinned(4);
    aclError status = ACL_SUCCESS;
    ASSERT_TRUE(
        IsOk(support::Enqueue(nullptr, [&] { status = aclrtFreeHostWithDevSync(pinned.Get()); })));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_TRUE(IsOk(aclrtFreeHost(pinned.Release()))) << "it was not freed";
}

TEST_F(MemoryFormsTest, CallsWithoutAnEffectCheckTheRange) {
    const DeviceBuffer device(64);
    int local = 0;
    for (aclError (*const call)(void*, size_t) : {&aclrtMemFlush, &aclrtMemInvalidate}) {
        EXPECT_TRUE(IsOk(call(device.Get(), 64)));
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, call(nullptr, 64), {"devPtr"}));
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, call(device.Get(), 0), {"size"}));
        EXPECT_TRUE(IsError(kInvalid, call(device.Get(), 4096), {"size is 4096"}));
        EXPECT_TRUE(IsError(kInvalid, call(&local, 4), {"in no allocation"}));
    }
    EXPECT_TRUE(IsOk(aclrtMemP2PMap(device.Get(), 64, 1, 0)));
    EXPECT_TRUE(IsError(kInvalid, aclrtMemP2PMap(device.Get(), 64, 1, 2), {"flags is 0x2"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemP2PMap(device.Get(), 64, 2, 0),
                        {"dstDevId is 2"}));
    EXPECT_TRUE(IsError(kInvalid, aclrtMemP2PMap(&local, 4, 1, 0), {"in no allocation"}));
}

TEST_F(MemoryFormsTest, MemoryForTheTaskScheduler) {
    void* memory = nullptr;
    ASSERT_TRUE(IsOk(aclrtMallocForTaskScheduler(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST, nullptr)));
    EXPECT_TRUE(IsOk(aclrtMemset(memory, 64, 0, 64)));
    EXPECT_TRUE(IsOk(aclrtFree(memory)));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM,
                aclrtMallocForTaskScheduler(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST, nullptr),
                {"aclrtMallocForTaskScheduler: devPtr"}));
    aclrtMallocConfig config{nullptr, 1};
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM,
                aclrtMallocForTaskScheduler(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config),
                {"aclrtMallocForTaskScheduler: "}));
}

}  // namespace
}  // namespace memory_forms
