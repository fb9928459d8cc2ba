// SPDX-License-Identifier: Apache-2.0
// aclrtReduceAsync against its reference, and what it refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "acl/acl.h"
#include "reference/reduce_reference.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using support::IsError;
using support::IsOk;

constexpr aclrtReduceKind kKinds[] = {
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN, ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL};

class ReduceTest : public support::DeviceTest {
 protected:
    template <class T>
    static std::vector<T> Reduce(const std::vector<T>& dst, const std::vector<T>& src,
                                 aclrtReduceKind kind, aclDataType type) {
        const support::DeviceBuffer to(dst);
        const support::DeviceBuffer from(src);
        EXPECT_TRUE(IsOk(aclrtReduceAsync(to.Get(), from.Get(), dst.size() * sizeof(T), kind, type,
                                          nullptr, nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        const std::vector<T> after = from.Download<T>();  // NaNs are not equal
        EXPECT_EQ(std::memcmp(after.data(), src.data(), src.size() * sizeof(T)), 0);
        return to.Download<T>();
    }

    template <class T>
    static void CheckIntegers(aclDataType type) {
        std::mt19937_64 random(7);
        std::vector<T> a(5000);
        std::vector<T> b(5000);
        for (size_t i = 0; i < a.size(); ++i) {
            a[i] = static_cast<T>(random());
            b[i] = random() % 4 == 0 ? a[i] : static_cast<T>(random());
        }
        a[0] = std::numeric_limits<T>::max();
        b[0] = 1;
        for (const aclrtReduceKind kind : kKinds) {
            const std::vector<T> got = Reduce(a, b, kind, type);
            for (size_t i = 0; i < a.size(); ++i) {
                const auto wide = reference::Reduced(kind, a[i], b[i]);  // exact: 33 bits
                ASSERT_EQ(got[i], static_cast<T>(static_cast<uint64_t>(static_cast<int64_t>(wide))))
                    << kind << " of " << +a[i] << " and " << +b[i];
            }
        }
    }

    // Sums of two values of such a float are exact doubles within 2^-24 to 2^15; elsewhere the
    // double's rounding is far finer than the float's.
    static void CheckSmallFloats(const reference::SmallFloat& format, aclDataType type) {
        std::mt19937_64 random(11);
        std::vector<uint16_t> a;
        std::vector<uint16_t> b;
        for (uint32_t bits = 0; bits < 0x10000; ++bits) {  // every value once
            a.push_back(static_cast<uint16_t>(bits));
            b.push_back(static_cast<uint16_t>(random()));
        }
        for (int i = 0; i < 20000; ++i) {  // neighbours, where rounding is close
            const auto near = static_cast<uint16_t>(random());
            a.push_back(near);
            b.push_back(static_cast<uint16_t>((near ^ (random() & 0x8000)) + random() % 3000));
        }
        for (const aclrtReduceKind kind : kKinds) {
            const std::vector<uint16_t> got = Reduce(a, b, kind, type);
            for (size_t i = 0; i < a.size(); ++i) {
                const double x = format.Value(a[i]);
                const double y = format.Value(b[i]);
                const double wanted = reference::Reduced(kind, x, y);
                if (std::isnan(wanted)) {
                    ASSERT_TRUE(std::isnan(format.Value(got[i]))) << kind << " " << x << " " << y;
                } else if (wanted == 0) {
                    ASSERT_EQ(format.Value(got[i]), 0) << kind << " " << x << " " << y;
                } else {
                    ASSERT_EQ(got[i], format.Nearest(wanted)) << kind << " " << x << " " << y;
                }
            }
        }
    }
};

TEST_F(ReduceTest, Integers) {
    CheckIntegers<int8_t>(ACL_INT8);
    CheckIntegers<int16_t>(ACL_INT16);
    CheckIntegers<int32_t>(ACL_INT32);
}

TEST_F(ReduceTest, HalfFloats) { CheckSmallFloats({5, 10}, ACL_FLOAT16); }

TEST_F(ReduceTest, BrainFloats) { CheckSmallFloats({8, 7}, ACL_BF16); }

TEST_F(ReduceTest, Floats) {
    const float nan = std::nanf("");
    const std::vector<float> a = {1.5F, -2, 3e38F, nan, 1, 0.1F, 16777216, -0.0F};
    const std::vector<float> b = {2.25F, -2, 3e38F, 1, nan, 0.2F, 1, 5};
    for (const aclrtReduceKind kind : kKinds) {
        const std::vector<float> got = Reduce(a, b, kind, ACL_FLOAT);
        for (size_t i = 0; i < a.size(); ++i) {
            const auto wanted = static_cast<float>(reference::Reduced(kind, a[i], b[i]));
            if (std::isnan(wanted)) {
                EXPECT_TRUE(std::isnan(got[i])) << kind << " " << i;
            } else {
                EXPECT_EQ(got[i], wanted) << kind << " " << i;
            }
        }
    }
}

// Of many elements, on every kind of machine, bit for bit.
TEST_F(ReduceTest, MachinesDoNotMatter) {
    constexpr size_t kElements = 200003;
    std::vector<float> a(kElements);
    std::vector<float> b(kElements);
    std::mt19937_64 random(3);
    for (size_t i = 0; i < kElements; ++i) {
        a[i] = static_cast<float>(random() % 100000) / 7;
        b[i] = static_cast<float>(random() % 100000) / 3;
    }
    std::vector<float> wanted(kElements);
    for (size_t i = 0; i < kElements; ++i) {
        wanted[i] = a[i] + b[i];
    }
    for (const support::Settings& machine :
         {support::Settings{{"ADVANCE_STEP_SOC", "sim:1"}},
          support::Settings{{"ADVANCE_STEP_SOC", "sim:48"}, {"ADVANCE_STEP_THREADS", "4"}},
          support::Settings{{"ADVANCE_STEP_CORE_ORDER", "5"}, {"ADVANCE_STEP_THREADS", "3"}}}) {
        ASSERT_NO_FATAL_FAILURE(Restart(machine));
        EXPECT_EQ(Reduce(a, b, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT), wanted);
    }
}

TEST_F(ReduceTest, InOrderInPlaceAndReplayed) {
    const support::Stream stream = support::MakeStream();
    const support::DeviceBuffer to(std::vector<int32_t>{1, 2, 3, 4});
    const support::DeviceBuffer from(std::vector<int32_t>{10, 20, 30, 40});
    const auto add = [&](void* source) {
        return aclrtReduceAsync(to.Get(), source, 16, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32,
                                stream.Get(), nullptr);
    };
    {
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(add(from.Get())));
        EXPECT_EQ(to.Download<int32_t>(), (std::vector<int32_t>{1, 2, 3, 4})) << "not yet";
        ASSERT_TRUE(IsOk(add(to.Get()))) << "the same range";
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(to.Download<int32_t>(), (std::vector<int32_t>{22, 44, 66, 88}));
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)));
    ASSERT_TRUE(IsOk(add(from.Get())));
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream.Get())));
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(to.Download<int32_t>(), (std::vector<int32_t>{42, 84, 126, 168}));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
}

TEST_F(ReduceTest, Refusals) {
    const support::DeviceBuffer to(64);
    const support::DeviceBuffer from(64);
    const support::PinnedArray<char> pinned(64);
    constexpr auto kSum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
    constexpr int kRange = ACL_ERROR_RT_PARAM_INVALID;
    constexpr int kNull = ACL_ERROR_INVALID_PARAM;
    const auto reduce = [&](void* dst, const void* src, uint64_t count, int kind, int type,
                            void* reserve = nullptr) {
        return aclrtReduceAsync(dst, src, count, static_cast<aclrtReduceKind>(kind),
                                static_cast<aclDataType>(type), nullptr, reserve);
    };
    EXPECT_TRUE(IsError(kNull, reduce(nullptr, from.Get(), 8, kSum, ACL_INT32), {"dst"}));
    EXPECT_TRUE(IsError(kNull, reduce(to.Get(), nullptr, 8, kSum, ACL_INT32), {"src"}));
    EXPECT_TRUE(IsError(kNull, reduce(to.Get(), from.Get(), 8, 9, ACL_INT32), {"kind", "9"}));
    EXPECT_TRUE(IsError(kNull, reduce(to.Get(), from.Get(), 8, 14, ACL_INT32), {"kind", "14"}));
    for (const int type : {ACL_INT64, ACL_UINT8, ACL_DOUBLE, ACL_BOOL}) {
        EXPECT_TRUE(IsError(kNull, reduce(to.Get(), from.Get(), 8, kSum, type), {"type"}));
    }
    EXPECT_TRUE(
        IsError(kNull, reduce(to.Get(), from.Get(), 8, kSum, ACL_INT32, to.Get()), {"reserve"}));
    EXPECT_TRUE(IsError(kRange, reduce(to.Get(), from.Get(), 0, kSum, ACL_INT32), {"count"}));
    EXPECT_TRUE(IsError(kRange, reduce(to.Get(), from.Get(), 6, kSum, ACL_INT32), {"count", "6"}));
    EXPECT_TRUE(IsError(kRange, reduce(to.Get(), from.Get(), 4096, kSum, ACL_INT32), {"4096"}));
    EXPECT_TRUE(IsError(kRange, reduce(to.At(2), from.Get(), 8, kSum, ACL_INT32), {"dst"}));
    EXPECT_TRUE(IsError(kRange, reduce(pinned.Get(), from.Get(), 8, kSum, ACL_INT32), {"dst"}));
    EXPECT_TRUE(IsError(kRange, reduce(to.Get(), to.At(4), 8, kSum, ACL_INT32), {"overlap"}));
}

// Copies whose addresses lie on the device.
TEST_F(ReduceTest, CopiesWithOffset) {
    const support::DeviceBuffer to(std::vector<char>(64, 1));
    const support::DeviceBuffer other(std::vector<char>(64, 2));
    const support::DeviceBuffer from(std::vector<char>{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'});
    const support::DeviceBuffer pointers(std::vector<void*>{to.Get(), from.Get()});
    auto** const dst = static_cast<void**>(pointers.Get());
    auto** const src = const_cast<const void**>(dst + 1);
    const support::Stream stream = support::MakeStream();
    constexpr auto kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
    const auto copy = [&](size_t count, size_t dstOffset = 3, size_t srcOffset = 2) {
        return aclrtMemcpyAsyncWithOffset(dst, 64, dstOffset, src, count, srcOffset, kInner,
                                          stream.Get());
    };
    {
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(copy(4)));
        pointers.Upload(std::vector<void*>{other.Get(), from.Get()});  // read when it runs
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(to.Download<char>(), std::vector<char>(64, 1));
    const std::vector<char> got = other.Download<char>();
    EXPECT_EQ(std::string(got.data() + 3, 4), "cdef");
    EXPECT_EQ(got[2], 2);
    EXPECT_EQ(got[7], 2);
    ASSERT_TRUE(IsOk(copy(8, 0, 60)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(stream.Get()),
                        {"aclrtMemcpyAsyncWithOffset", "src"}));
    pointers.Upload(std::vector<void*>{other.Get(), static_cast<char*>(to.Get()) + 8});
    ASSERT_TRUE(IsOk(copy(8, 0, SIZE_MAX - 7))) << "a sum that wraps round is 8 bytes before";
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(stream.Get()),
                        {"aclrtMemcpyAsyncWithOffset", "srcDataOffset"}));
    EXPECT_EQ(other.Download<char>(), got);
    constexpr int kRange = ACL_ERROR_RT_PARAM_INVALID;
    EXPECT_TRUE(IsError(kRange, copy(62), {"destMax"}));
    EXPECT_TRUE(IsOk(aclrtMemcpyAsyncWithOffset(nullptr, 0, 0, nullptr, 0, 0,
                                                ACL_MEMCPY_DEVICE_TO_HOST, stream.Get())));
    EXPECT_TRUE(IsError(kRange,
                        aclrtMemcpyAsyncWithOffset(dst, 64, 0, src, 4, 0,
                                                   ACL_MEMCPY_DEVICE_TO_DEVICE, stream.Get()),
                        {"kind"}));
    void* host[2] = {to.Get(), from.Get()};
    EXPECT_TRUE(IsError(
        kRange, aclrtMemcpyAsyncWithOffset(host, 64, 0, src, 4, 0, kInner, stream.Get()), {"dst"}));
    EXPECT_TRUE(IsOk(aclrtMemcpyAsyncWithCondition(to.Get(), 64, from.Get(), 8,
                                                   ACL_MEMCPY_DEVICE_TO_DEVICE, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(to.Download<char>()[7], 'h');
    EXPECT_TRUE(IsOk(aclrtMemcpyAsyncWithCondition(nullptr, 0, nullptr, 0,
                                                   static_cast<aclrtMemcpyKind>(99), stream.Get())))
        << "with no bytes it checks no other argument, as aclrtMemcpyAsync";
}

}  // namespace
