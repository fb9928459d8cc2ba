// SPDX-License-Identifier: Apache-2.0
// Two-dimensional copies, synchronous and in stream order.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "acl/acl.h"
#include "conformance/copy_form.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using conformance::Form;
using namespace support;

class Copy2dTest : public support::DeviceTest, public testing::WithParamInterface<Form> {
 protected:
    static bool Now() { return GetParam() == Form::kNow; }
    static aclError Copy(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                         size_t height, int kind) {
        const auto copyKind = static_cast<aclrtMemcpyKind>(kind);
        return Now()
                   ? aclrtMemcpy2d(dst, dpitch, src, spitch, width, height, copyKind)
                   : aclrtMemcpy2dAsync(dst, dpitch, src, spitch, width, height, copyKind, nullptr);
    }
    static std::string Name() { return Now() ? "aclrtMemcpy2d: " : "aclrtMemcpy2dAsync: "; }
    static std::vector<char> Pattern(size_t size) {
        std::vector<char> values(size);
        std::iota(values.begin(), values.end(), '\1');
        return values;
    }
    // What a copy should make of dst.
    static void CopyRows(std::vector<char>* dst, size_t dpitch, const std::vector<char>& src,
                         size_t spitch, size_t width, size_t height) {
        for (size_t row = 0; row < height; ++row) {
            std::copy_n(src.begin() + static_cast<ptrdiff_t>(row * spitch), width,
                        dst->begin() + static_cast<ptrdiff_t>(row * dpitch));
        }
    }
};

TEST_P(Copy2dTest, CopiesTheRowsAndNothingBeside) {
    struct Shape {
        size_t dpitch, spitch, width, height;
    };
    for (const Shape& s : {Shape{16, 16, 16, 8}, Shape{20, 16, 10, 7}, Shape{16, 20, 10, 7},
                           Shape{7, 9, 1, 13}, Shape{64, 64, 64, 1}, Shape{30, 20, 20, 2}}) {
        const size_t dstSize = s.dpitch * (s.height - 1) + s.width;
        const size_t srcSize = s.spitch * (s.height - 1) + s.width;
        const std::vector<char> pattern = Pattern(srcSize);
        std::vector<char> expected(dstSize, 'd');
        CopyRows(&expected, s.dpitch, pattern, s.spitch, s.width, s.height);
        for (const int kind : {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEFAULT}) {
            const DeviceBuffer device(std::vector<char>(dstSize, 'd'));
            ASSERT_TRUE(IsOk(
                Copy(device.Get(), s.dpitch, pattern.data(), s.spitch, s.width, s.height, kind)));
            EXPECT_EQ(device.Download<char>(), expected);
        }
        for (const int kind : {ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEFAULT}) {
            const DeviceBuffer device(pattern);
            std::vector<char> host(dstSize, 'd');
            ASSERT_TRUE(
                IsOk(Copy(host.data(), s.dpitch, device.Get(), s.spitch, s.width, s.height, kind)));
            EXPECT_EQ(host, expected);
        }
        const DeviceBuffer from(pattern);
        const DeviceBuffer to(std::vector<char>(dstSize, 'd'));
        ASSERT_TRUE(IsOk(Copy(to.Get(), s.dpitch, from.Get(), s.spitch, s.width, s.height,
                              ACL_MEMCPY_DEVICE_TO_DEVICE)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        EXPECT_EQ(to.Download<char>(), expected);
    }
}

TEST_P(Copy2dTest, NothingIsCopiedForWidthOrHeightZero) {
    const DeviceBuffer device(std::vector<char>(16, 'd'));
    const std::vector<char> host(16, 'h');
    for (const size_t pitch : {size_t{0}, size_t{16}, SIZE_MAX}) {
        EXPECT_TRUE(
            IsOk(Copy(device.Get(), pitch, host.data(), pitch, 0, 99, ACL_MEMCPY_HOST_TO_DEVICE)));
        EXPECT_TRUE(
            IsOk(Copy(device.Get(), pitch, host.data(), pitch, 99, 0, ACL_MEMCPY_HOST_TO_DEVICE)));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(16, 'd'));
}

TEST_P(Copy2dTest, RefusesNullsAndUnknownKinds) {
    const DeviceBuffer device(16);
    std::vector<char> host(16);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        Copy(nullptr, 4, host.data(), 4, 4, 4, ACL_MEMCPY_HOST_TO_DEVICE),
                        {Name(), "dst"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        Copy(host.data(), 4, nullptr, 4, 4, 4, ACL_MEMCPY_DEVICE_TO_HOST),
                        {Name(), "src"}));
    for (const int kind : {8, -1}) {
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                            Copy(device.Get(), 4, host.data(), 4, 4, 4, kind), {Name(), "kind"}));
    }
}

TEST_P(Copy2dTest, RefusesRowsLongerThanTheirPitch) {
    const DeviceBuffer device(std::vector<char>(64, 'd'));
    const std::vector<char> host(64, 'h');
    for (const size_t height : {1, 2}) {
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_PARAM_INVALID,
                    Copy(device.Get(), 9, host.data(), 16, 10, height, ACL_MEMCPY_HOST_TO_DEVICE),
                    {Name(), "width", "dpitch"}, {10, 9}));
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_PARAM_INVALID,
                    Copy(device.Get(), 16, host.data(), 9, 10, height, ACL_MEMCPY_HOST_TO_DEVICE),
                    {Name(), "width", "spitch"}, {10, 9}));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(64, 'd'));
}

// Rows of 10 bytes, 20 apart: 3 of them take 50.
TEST_P(Copy2dTest, RefusesRangesOutsideTheirAllocation) {
    const DeviceBuffer exact(std::vector<char>(50, 'd'));
    const DeviceBuffer small(std::vector<char>(49, 's'));
    const PinnedArray<char> pinned(49, 'p');
    std::vector<char> host(50, 'h');
    const auto expectRefused = [](aclError status) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, status, {Name()}, {50, 49}));
    };
    expectRefused(Copy(small.Get(), 20, host.data(), 20, 10, 3, ACL_MEMCPY_HOST_TO_DEVICE));
    expectRefused(Copy(host.data(), 20, small.Get(), 20, 10, 3, ACL_MEMCPY_DEVICE_TO_HOST));
    expectRefused(Copy(exact.At(1), 20, host.data(), 20, 10, 3, ACL_MEMCPY_DEFAULT));
    expectRefused(Copy(pinned.Get(), 20, exact.Get(), 20, 10, 3, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        Copy(host.data(), 20, host.data(), 20, 10, 3, ACL_MEMCPY_HOST_TO_DEVICE),
                        {Name(), "dst"}));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(small.Download<char>(), std::vector<char>(49, 's'));
    EXPECT_TRUE(IsOk(Copy(exact.Get(), 20, host.data(), 20, 10, 3, ACL_MEMCPY_HOST_TO_DEVICE)));
}

TEST_P(Copy2dTest, RefusesRangesThatOverflow) {
    const DeviceBuffer device(64);
    const std::vector<char> host(64);
    struct Shape {
        size_t pitch, width, height;
    };
    for (const Shape& s : {Shape{SIZE_MAX, 1, 3}, Shape{SIZE_MAX / 2, 8, 4}, Shape{8, 8, SIZE_MAX},
                           Shape{SIZE_MAX, SIZE_MAX, 2}, Shape{SIZE_MAX, SIZE_MAX, 1},
                           Shape{size_t{1} << 32, 1, (size_t{1} << 32) + 1}}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            Copy(device.Get(), s.pitch, host.data(), s.pitch, s.width, s.height,
                                 ACL_MEMCPY_HOST_TO_DEVICE),
                            {Name()}));
    }
}

INSTANTIATE_TEST_SUITE_P(Now, Copy2dTest, testing::Values(Form::kNow));
INSTANTIATE_TEST_SUITE_P(InStream, Copy2dTest, testing::Values(Form::kInStream));

class Copy2dOrderTest : public support::DeviceTest {};

TEST_F(Copy2dOrderTest, HostToHost) {
    std::vector<char> from(64, 'f'), to(64, 't');
    EXPECT_TRUE(
        IsOk(aclrtMemcpy2d(to.data(), 16, from.data(), 16, 16, 4, ACL_MEMCPY_HOST_TO_HOST)));
    EXPECT_EQ(to, from);
    for (const auto kind : {ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_DEFAULT}) {
        EXPECT_TRUE(
            IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    aclrtMemcpy2dAsync(to.data(), 16, from.data(), 16, 16, 4, kind, nullptr),
                    {"aclrtMemcpy2dAsync: ", "kind"}));
    }
}

TEST_F(Copy2dOrderTest, PinnedIsAsynchronousAndSynchronousIsInNoOrder) {
    const PinnedArray<char> pinned(64, 'p');
    const DeviceBuffer device(std::vector<char>(64, 'd'));
    const Stream stream = support::MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(aclrtMemcpy2dAsync(device.Get(), 16, pinned.Get(), 16, 16, 4,
                                        ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
    std::vector<char> now(64);
    ASSERT_TRUE(
        IsOk(aclrtMemcpy2d(now.data(), 16, device.Get(), 16, 16, 4, ACL_MEMCPY_DEVICE_TO_HOST)));
    EXPECT_EQ(now, std::vector<char>(64, 'd'));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(64, 'p'));
}

TEST_F(Copy2dOrderTest, PageableIsDoneOnReturn) {
    const DeviceBuffer device(std::vector<char>(64, 'd'));
    const support::Recorder recorder;
    ASSERT_TRUE(IsOk(recorder.Mark(nullptr, 1)));
    std::vector<char> host(64, 'h');
    ASSERT_TRUE(IsOk(aclrtMemcpy2dAsync(device.Get(), 16, host.data(), 16, 16, 4,
                                        ACL_MEMCPY_HOST_TO_DEVICE, nullptr)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1}) << "in stream order";
    EXPECT_EQ(device.Download<char>(), host);
    aclError inside = ACL_SUCCESS;
    ASSERT_TRUE(IsOk(support::Enqueue(nullptr, [&] {
        inside = aclrtMemcpy2dAsync(device.Get(), 16, host.data(), 16, 16, 4,
                                    ACL_MEMCPY_HOST_TO_DEVICE, nullptr);
    })));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(inside, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

}  // namespace
