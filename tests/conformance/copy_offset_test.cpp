// SPDX-License-Identifier: Apache-2.0
// aclrtMemcpyAsyncWithOffset with memory that is freed, unmapped or closed before the copy runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "conformance/conditional_fixture.h"
#include "conformance/virtual_memory_fixture.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using conformance::kUnit;
using namespace support;

constexpr size_t kCopied = 4096;

// A copy of kCopied bytes between two addresses in device memory.
struct Copy {
    DeviceBuffer pointers;

    Copy(void* dst, void* src) : pointers(std::vector<void*>{dst, src}) {}
    aclError Queue(const Stream& stream, size_t bytes = kCopied) const {
        auto** const dst = static_cast<void**>(pointers.Get());
        return aclrtMemcpyAsyncWithOffset(dst, bytes, 0, const_cast<const void**>(dst + 1), bytes,
                                          0, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream.Get());
    }
};

class CopyOffsetTest : public conformance::VirtualMemoryFixture {
 protected:
    // Queues a copy between the addresses, behind a gate, and calls `end` before it runs.
    static aclError EndBefore(void* dst, void* src, const std::function<void()>& end,
                              size_t bytes = kCopied) {
        const Copy copy(dst, src);
        const Stream stream = support::MakeStream();
        {
            const HostGate gate(stream.Get());
            EXPECT_TRUE(gate.WaitEntered());
            EXPECT_TRUE(IsOk(copy.Queue(stream, bytes)));
            end();
        }
        return aclrtSynchronizeStream(stream.Get());
    }
    static std::vector<char> Bytes(char value) { return std::vector<char>(kCopied, value); }
};

TEST_F(CopyOffsetTest, UsesAFreedBlock) {
    const DeviceBuffer kept(Bytes('k'));
    DeviceBuffer freed(Bytes('f'));
    void* const block = freed.Get();
    EXPECT_TRUE(IsOk(EndBefore(kept.Get(), block, [&] { freed = DeviceBuffer(); })));
    EXPECT_EQ(kept.Download<char>(), Bytes('f'));
    DeviceBuffer target(Bytes('t'));
    EXPECT_TRUE(IsOk(EndBefore(target.Get(), kept.Get(), [&] { target = DeviceBuffer(); })));
}

TEST_F(CopyOffsetTest, UsesAnUnmappedRange) {
    const DeviceBuffer target(Bytes('t'));
    Mapped mapped(kUnit);
    ASSERT_TRUE(IsOk(aclrtMemset(mapped.range.Get(), kUnit, 'm', kUnit)));
    EXPECT_TRUE(IsOk(EndBefore(target.Get(), mapped.range.Get(), [&] { mapped.Unmap(); })));
    EXPECT_EQ(target.Download<char>(), Bytes('m'));
}

TEST_F(CopyOffsetTest, UsesAnAllocationOfWhichAPartIsUnmapped) {
    const auto range = Reserve(2 * kUnit);
    const auto first = Physical(kUnit), second = Physical(kUnit);
    const DeviceBuffer source(Bytes('s'));
    for (const bool begin : {false, true}) {
        ASSERT_TRUE(IsOk(aclrtMapMem(range.Get(), kUnit, 0, first.Get(), 0)));
        ASSERT_TRUE(IsOk(aclrtMapMem(range.At(kUnit), kUnit, 0, second.Get(), 0)));
        ASSERT_TRUE(IsOk(aclrtMemset(range.Get(), 2 * kUnit, 0, 2 * kUnit)));
        char* const ended = range.At(begin ? 0 : kUnit);
        EXPECT_TRUE(IsOk(EndBefore(range.At(kUnit - kCopied / 2), source.Get(),
                                   [&] { EXPECT_TRUE(IsOk(aclrtUnmapMem(ended))); })));
        char last = 0;
        const size_t at = begin ? kUnit + kCopied / 2 - 1 : kUnit - kCopied / 2;
        EXPECT_TRUE(IsOk(aclrtMemcpy(&last, 1, range.At(at), 1, ACL_MEMCPY_DEVICE_TO_HOST)));
        EXPECT_EQ(last, 's');
        EXPECT_TRUE(IsOk(aclrtUnmapMem(range.At(begin ? kUnit : 0))));
    }
}

TEST_F(CopyOffsetTest, UsesAClosedImport) {
    const DeviceBuffer target(Bytes('t'));
    const DeviceBuffer block(std::vector<char>(kUnit, 'i'));
    char key[65] = {};
    ASSERT_TRUE(IsOk(aclrtIpcMemGetExportKey(block.Get(), 1, key, sizeof(key), 1)));
    void* imported = nullptr;
    ASSERT_TRUE(IsOk(aclrtIpcMemImportByKey(&imported, key, 0)));
    EXPECT_TRUE(
        IsOk(EndBefore(target.Get(), imported, [&] { EXPECT_TRUE(IsOk(aclrtIpcMemClose(key))); })));
    EXPECT_EQ(target.Download<char>(), Bytes('i'));
}

// The rest of such a block is no memory for a device, before the free and after it.
TEST_F(CopyOffsetTest, UsesTheMappedPartOfAFreedPinnedBlock) {
    const DeviceBuffer target(Bytes('t'));
    for (const size_t begin : {size_t{0}, kCopied}) {
        void* block = nullptr;
        void* device = nullptr;
        ASSERT_TRUE(IsOk(aclrtMallocHost(&block, 2 * kCopied)));
        std::fill_n(static_cast<char*>(block), 2 * kCopied, 'p');
        ASSERT_TRUE(IsOk(aclrtHostRegister(block, kCopied, ACL_HOST_REGISTER_MAPPED, &device)));
        const aclError status = EndBefore(target.Get(), static_cast<char*>(block) + begin,
                                          [&] { EXPECT_TRUE(IsOk(aclrtFreeHost(block))); });
        EXPECT_EQ(status, begin == 0 ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID);
    }
    EXPECT_EQ(target.Download<char>(), Bytes('p'));
}

TEST_F(CopyOffsetTest, ChecksTheLengthOfAFreedBlock) {
    const DeviceBuffer target(2 * kUnit);
    DeviceBuffer freed(kUnit);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        EndBefore(
                            target.Get(), freed.Get(), [&] { freed = DeviceBuffer(); }, kUnit + 1),
                        {"aclrtMemcpyAsyncWithOffset", "src"}));
}

// Work of other streams keeps the memory, but not for a copy that is queued after the free.
TEST_F(CopyOffsetTest, RefusesMemoryThatWasFreedBeforeItWasQueued) {
    const DeviceBuffer target(Bytes('t'));
    DeviceBuffer freed(Bytes('f'));
    Mapped mapped(kUnit);
    const Copy fromBlock(target.Get(), freed.Get()), fromRange(target.Get(), mapped.range.Get());
    const Stream stream = support::MakeStream(), held = support::MakeStream();
    {
        const HostGate gate(held.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(fromBlock.Queue(stream)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        freed = DeviceBuffer();
        mapped.Unmap();
        for (const Copy* const copy : {&fromBlock, &fromRange}) {
            ASSERT_TRUE(IsOk(copy->Queue(stream)));
            EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(stream.Get()),
                                {"aclrtMemcpyAsyncWithOffset", "src"}));
        }
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(held.Get())));
}

TEST_F(CopyOffsetTest, ThreadsFreeWhatTheyHaveQueued) {
    std::vector<std::thread> threads;
    for (char value : {'a', 'b', 'c'}) {
        threads.emplace_back([value] {
            ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
            const Stream stream = support::MakeStream();
            const DeviceBuffer target(Bytes('t'));
            for (int round = 0; round < 100; ++round) {
                DeviceBuffer block(Bytes(value));
                Mapped mapped(kUnit);
                const Copy in(mapped.range.Get(), block.Get());
                const Copy out(target.Get(), mapped.range.Get());
                ASSERT_TRUE(IsOk(in.Queue(stream)));
                ASSERT_TRUE(IsOk(out.Queue(stream)));
                block = DeviceBuffer();
                mapped.Unmap();
                ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
                ASSERT_EQ(target.Download<char>(), Bytes(value));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

class OffsetReplayTest : public conformance::ConditionalTest {};

// The iterations of a loop are queued one by one, but the replay was queued before the free.
TEST_F(OffsetReplayTest, UsesAFreedBlockInALoop) {
    const std::vector<char> bytes(kCopied, 'f');
    const DeviceBuffer target(std::vector<char>(kCopied, 't'));
    DeviceBuffer freed(bytes);
    const Copy copy(target.Get(), freed.Get());
    const Stream stream = support::MakeStream();
    const support::Signal entered, opened;
    conformance::Begin(stream.Get(), conformance::kRelaxed);
    const aclmdlRICondHandle handle = MakeCondition(stream, 3);
    uint64_t* const variable = Variable(handle);
    Add(stream, handle, conformance::kWhile, {[&](const Stream& inner) {
            EXPECT_TRUE(IsOk(support::Enqueue(inner.Get(), [entered, opened] {
                entered.Set();
                EXPECT_TRUE(opened.Wait());
            })));
            EXPECT_TRUE(IsOk(copy.Queue(inner)));
            CountDown(inner, variable);
        }});
    const auto model = conformance::End(stream.Get());
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
    EXPECT_TRUE(entered.Wait());
    freed = DeviceBuffer();
    opened.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(target.Download<char>(), bytes);
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(stream.Get()),
                        {"aclrtMemcpyAsyncWithOffset", "src"}));
}

}  // namespace
