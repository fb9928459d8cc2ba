// SPDX-License-Identifier: Apache-2.0
// All values of the small floats, through AllReduce of one process.
#include <gtest/gtest.h>

#include "hccl/devices.h"

namespace {

using namespace hccl_test;

class HcclNumbersTest : public DevicesTest {
 protected:
    void SetUp() override { ASSERT_NO_FATAL_FAILURE(Begin(2)); }

    static std::vector<uint16_t> Words(const Bytes& bytes) {
        std::vector<uint16_t> words(bytes.size() / 2);
        std::memcpy(words.data(), bytes.data(), bytes.size());
        return words;
    }

    static bool SameNumber(uint16_t bits, uint16_t expected, const SmallFloat& format) {
        return bits == expected ||
               (std::isnan(ValueOf(bits, format)) && std::isnan(ValueOf(expected, format)));
    }

    // Every value of the type with one number.
    void CheckAll(HcclDataType type, const SmallFloat& format, HcclReduceOp op, uint16_t other) {
        std::vector<uint16_t> all(65536);
        for (size_t i = 0; i < all.size(); ++i) {
            all[i] = static_cast<uint16_t>(i);
        }
        const std::vector<uint16_t> others(all.size(), other);
        const auto* const one = reinterpret_cast<const unsigned char*>(all.data());
        const auto* const two = reinterpret_cast<const unsigned char*>(others.data());
        const std::vector<Bytes> in{Bytes(one, one + 131072), Bytes(two, two + 131072)};
        const std::vector<uint16_t> got = Words(AllReduced(type, op, in)[1]);
        for (size_t i = 0; i < all.size(); ++i) {
            const double a = ValueOf(all[i], format);
            const double b = ValueOf(other, format);
            const bool noNumber = std::isnan(a) || std::isnan(b);
            const double value = noNumber ? std::nan("") : Combine(op, a, b);
            const uint16_t expected =
                std::isnan(value) ? static_cast<uint16_t>(0x7fff) : BitsOf(value, format);
            ASSERT_TRUE(SameNumber(got[i], expected, format))
                << std::hex << all[i] << " with " << other << " is " << got[i] << "; expected "
                << expected;
        }
    }
};

TEST_F(HcclNumbersTest, EveryHalfHasTheNearestSumAndProduct) {
    for (const uint16_t other : {0x3c00, 0x3555, 0x8001, 0x7bff, 0x7e00, 0xfc00}) {
        CheckAll(HCCL_DATA_TYPE_FP16, kHalf, HCCL_REDUCE_SUM, other);
        CheckAll(HCCL_DATA_TYPE_FP16, kHalf, HCCL_REDUCE_PROD, other);
        CheckAll(HCCL_DATA_TYPE_FP16, kHalf, HCCL_REDUCE_MAX, other);
    }
}

TEST_F(HcclNumbersTest, EveryBrainHasTheNearestSumAndProduct) {
    for (const uint16_t other : {0x3f80, 0x3eab, 0x8001, 0x7f7f, 0x7fc0}) {
        CheckAll(HCCL_DATA_TYPE_BFP16, kBrain, HCCL_REDUCE_SUM, other);
        CheckAll(HCCL_DATA_TYPE_BFP16, kBrain, HCCL_REDUCE_MIN, other);
    }
    CheckAll(HCCL_DATA_TYPE_BFP16, kBrain, HCCL_REDUCE_PROD, 0x3eab);
}

}  // namespace
