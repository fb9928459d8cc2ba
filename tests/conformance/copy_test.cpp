// SPDX-License-Identifier: Apache-2.0
// Copies and fills: what both forms, synchronous and in stream order, take and refuse.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "acl/acl.h"
#include "conformance/copy_form.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace {

using conformance::Form;
using support::DeviceBuffer;
using support::IsError;
using support::IsOk;
using support::PinnedArray;

class FormTest : public support::DeviceTest, public testing::WithParamInterface<Form> {
 protected:
    static bool Now() { return GetParam() == Form::kNow; }
    static aclError Copy(void* dst, size_t destMax, const void* src, size_t count, int kind) {
        const auto copyKind = static_cast<aclrtMemcpyKind>(kind);
        return Now() ? aclrtMemcpy(dst, destMax, src, count, copyKind)
                     : aclrtMemcpyAsync(dst, destMax, src, count, copyKind, nullptr);
    }
    static aclError Fill(void* memory, size_t maxCount, int32_t value, size_t count) {
        return Now() ? aclrtMemset(memory, maxCount, value, count)
                     : aclrtMemsetAsync(memory, maxCount, value, count, nullptr);
    }
    static std::string CopyName() { return Now() ? "aclrtMemcpy: " : "aclrtMemcpyAsync: "; }
    static std::string FillName() { return Now() ? "aclrtMemset: " : "aclrtMemsetAsync: "; }
    static std::vector<char> Pattern(size_t size) {
        std::vector<char> values(size);
        std::iota(values.begin(), values.end(), '\1');
        return values;
    }
};

class CopyTest : public FormTest {};

TEST_P(CopyTest, EveryKindMovesTheBytes) {
    const std::vector<char> pattern = Pattern(1000);
    for (const int toDevice :
         {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEFAULT, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE}) {
        for (const int inDevice :
             {ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE}) {
            for (const int toHost : {ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEFAULT}) {
                const DeviceBuffer first(std::vector<char>(1000, 'a'));
                const DeviceBuffer second(std::vector<char>(1000, 'b'));
                std::vector<char> result(1000, 'c');
                ASSERT_TRUE(IsOk(Copy(first.Get(), 1000, pattern.data(), 1000, toDevice)));
                ASSERT_TRUE(IsOk(Copy(second.Get(), 1000, first.Get(), 1000, inDevice)));
                ASSERT_TRUE(IsOk(Copy(result.data(), 1000, second.Get(), 1000, toHost)));
                EXPECT_EQ(result, pattern) << toDevice << " " << inDevice << " " << toHost;
            }
        }
    }
}

TEST_P(CopyTest, BetweenDevices) {
    const std::vector<char> pattern = Pattern(500);
    const DeviceBuffer first(pattern);
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const DeviceBuffer second(std::vector<char>(500, 'b'));
    ASSERT_TRUE(IsOk(Copy(second.Get(), 500, first.Get(), 500, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(second.Download<char>(), pattern);
}

TEST_P(CopyTest, WritesCountBytesOnly) {
    const DeviceBuffer device(std::vector<char>(100, 'd'));
    const std::vector<char> pattern = Pattern(100);
    ASSERT_TRUE(IsOk(Copy(device.At(10), 90, pattern.data(), 20, ACL_MEMCPY_HOST_TO_DEVICE)));
    std::vector<char> expected(100, 'd');
    std::copy(pattern.begin(), pattern.begin() + 20, expected.begin() + 10);
    EXPECT_EQ(device.Download<char>(), expected);
}

TEST_P(CopyTest, NothingIsCopiedForCountZero) {
    const DeviceBuffer device(std::vector<char>(16, 'd'));
    const std::vector<char> host(16, 'h');
    EXPECT_TRUE(IsOk(Copy(device.Get(), 16, host.data(), 0, ACL_MEMCPY_HOST_TO_DEVICE)));
    EXPECT_TRUE(IsOk(Copy(device.Get(), 0, host.data(), 0, ACL_MEMCPY_HOST_TO_DEVICE)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(16, 'd'));
}

TEST_P(CopyTest, RefusesNull) {
    const DeviceBuffer device(16);
    std::vector<char> host(16, 'h');
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        Copy(nullptr, 16, host.data(), 16, ACL_MEMCPY_HOST_TO_DEVICE),
                        {CopyName(), "dst"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        Copy(host.data(), 16, nullptr, 16, ACL_MEMCPY_DEVICE_TO_HOST),
                        {CopyName(), "src"}));
    EXPECT_EQ(host, std::vector<char>(16, 'h'));
}

TEST_P(CopyTest, RefusesUnknownKinds) {
    const DeviceBuffer device(16);
    const std::vector<char> host(16, 'h');
    for (const int kind : {8, -1, 1000}) {
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, Copy(device.Get(), 16, host.data(), 16, kind),
                            {CopyName(), "kind"}));
    }
}

TEST_P(CopyTest, RefusesMoreThanTheDestinationTakes) {
    const DeviceBuffer device(std::vector<char>(64, 'd'));
    const std::vector<char> host(64, 'h');
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        Copy(device.Get(), 31, host.data(), 32, ACL_MEMCPY_HOST_TO_DEVICE),
                        {CopyName(), "destMax"}, {32, 31}));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(64, 'd'));
}

// A range that starts at byte of an allocation of 1024 bytes; the message has both sizes.
TEST_P(CopyTest, RefusesRangesOutsideTheirAllocation) {
    const DeviceBuffer device(std::vector<char>(1024, 'd'));
    const DeviceBuffer large(8192);
    const PinnedArray<char> pinned(1024, 'p');
    std::vector<char> host(8192, 'h');
    struct Range {
        size_t byte, count;
        int inside;  // bytes from there to the allocation's end
    };
    for (const Range& range : {Range{0, 4096, 1024}, Range{0, 1025, 1024}, Range{1000, 100, 24},
                               Range{1023, 2, 1}, Range{512, 8000, 512}}) {
        SCOPED_TRACE(testing::Message() << range.count << " bytes at " << range.byte);
        const auto expectRefused = [&](aclError status) {
            EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, status, {CopyName()},
                                {static_cast<int>(range.count), range.inside}));
        };
        char* const inDevice = device.At(range.byte);
        char* const inPinned = pinned.Get() + range.byte;
        expectRefused(Copy(inDevice, 8192, host.data(), range.count, ACL_MEMCPY_HOST_TO_DEVICE));
        expectRefused(Copy(host.data(), 8192, inDevice, range.count, ACL_MEMCPY_DEVICE_TO_HOST));
        expectRefused(Copy(inDevice, 8192, large.Get(), range.count, ACL_MEMCPY_DEVICE_TO_DEVICE));
        expectRefused(Copy(large.Get(), 8192, inDevice, range.count, ACL_MEMCPY_DEVICE_TO_DEVICE));
        expectRefused(Copy(inDevice, 8192, host.data(), range.count, ACL_MEMCPY_DEFAULT));
        expectRefused(Copy(large.Get(), 8192, inPinned, range.count, ACL_MEMCPY_HOST_TO_DEVICE));
        expectRefused(Copy(inPinned, 8192, large.Get(), range.count, ACL_MEMCPY_DEVICE_TO_HOST));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(1024, 'd'));
    EXPECT_EQ(pinned.Values(), std::vector<char>(1024, 'p'));
    EXPECT_EQ(host, std::vector<char>(8192, 'h'));
}

TEST_P(CopyTest, RefusesHugeCounts) {
    const DeviceBuffer device(64);
    const std::vector<char> host(64, 'h');
    for (const size_t count : {SIZE_MAX, SIZE_MAX - 32, SIZE_MAX / 2}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Copy(device.At(32), SIZE_MAX, host.data(),
                                                             count, ACL_MEMCPY_HOST_TO_DEVICE)));
    }
}

TEST_P(CopyTest, RefusesDeviceSidesInsideNoAllocation) {
    DeviceBuffer gone(64);
    const DeviceBuffer device(64);
    std::vector<char> host(64, 'h'), other(64, 'o');
    void* const freed = gone.Get();
    ASSERT_TRUE(IsOk(aclrtFree(gone.Release())));
    for (void* const none : {static_cast<void*>(other.data()), freed}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            Copy(none, 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE),
                            {CopyName()}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            Copy(host.data(), 64, none, 64, ACL_MEMCPY_DEVICE_TO_HOST)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            Copy(device.Get(), 64, none, 64, ACL_MEMCPY_DEVICE_TO_DEVICE)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            Copy(none, 64, device.Get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE)));
    }
    EXPECT_EQ(host, std::vector<char>(64, 'h'));
    EXPECT_EQ(other, std::vector<char>(64, 'o'));
}

INSTANTIATE_TEST_SUITE_P(Now, CopyTest, testing::Values(Form::kNow));
INSTANTIATE_TEST_SUITE_P(InStream, CopyTest, testing::Values(Form::kInStream));

class FillTest : public FormTest {};

TEST_P(FillTest, SetsTheLowByte) {
    const DeviceBuffer device(std::vector<char>(100, 'd'));
    for (const int32_t value : {0, 0x7f, 0x12345, -1}) {
        ASSERT_TRUE(IsOk(Fill(device.At(10), 90, value, 50)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        std::vector<char> expected(100, 'd');
        std::fill_n(expected.begin() + 10, 50, static_cast<char>(value & 0xff));
        EXPECT_EQ(device.Download<char>(), expected) << value;
    }
}

TEST_P(FillTest, TakesPinnedMemory) {
    const PinnedArray<char> pinned(32, 'p');
    ASSERT_TRUE(IsOk(Fill(pinned.Get(), 32, 'q', 32)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(pinned.Values(), std::vector<char>(32, 'q'));
}

TEST_P(FillTest, RefusesWhatLiesOutside) {
    const DeviceBuffer device(std::vector<char>(64, 'd'));
    std::vector<char> host(64, 'h');
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, Fill(nullptr, 64, 0, 64), {FillName(), "devPtr"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Fill(device.Get(), 31, 0, 32),
                        {FillName(), "maxCount"}, {32, 31}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, Fill(device.Get(), 65, 0, 65), {FillName()}, {65, 64}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Fill(device.At(60), SIZE_MAX, 0, SIZE_MAX)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Fill(host.data(), 64, 0, 64), {FillName()}));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(64, 'd'));
    EXPECT_EQ(host, std::vector<char>(64, 'h'));
}

INSTANTIATE_TEST_SUITE_P(Now, FillTest, testing::Values(Form::kNow));
INSTANTIATE_TEST_SUITE_P(InStream, FillTest, testing::Values(Form::kInStream));

}  // namespace
