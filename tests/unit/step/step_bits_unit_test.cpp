// SPDX-License-Identifier: Apache-2.0
// Tests of Step's sets of slots: bits, counts, visits.

#include "op_kernel/step/step_bits.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace advstep {
namespace {

TEST(StepBitsTest, AnyByteButZeroIsABit) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 1000; ++round) {
        std::vector<uint8_t> bytes(64);
        uint64_t expected = 0;
        for (size_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = static_cast<uint8_t>(random() % 3 == 0 ? random() : 0);
            expected |= static_cast<uint64_t>(bytes[i] != 0 ? 1 : 0) << i;
        }
        ASSERT_EQ(NonZeroBytes(bytes.data()), expected);
    }
    const std::vector<uint8_t> ones(64, 0x80);
    EXPECT_EQ(NonZeroBytes(ones.data()), ~uint64_t{0});
}

TEST(StepBitsTest, CountsAndVisitsWhatIsSet) {
    std::mt19937_64 random(6);
    std::vector<uint64_t> words = {0, 1, ~uint64_t{0}, uint64_t{1} << 63, 0x8000000000000001U};
    for (int round = 0; round < 1000; ++round) {
        words.push_back(random() & random());
    }
    for (const uint64_t word : words) {
        std::vector<int64_t> expected, visited;
        for (int64_t bit = 0; bit < 64; ++bit) {
            if ((word >> bit & 1) != 0) {
                expected.push_back(640 + bit);
            }
        }
        ForEachSlot(word, 640, [&](int64_t slot) { visited.push_back(slot); });
        ASSERT_EQ(visited, expected);
        ASSERT_EQ(CountBits(word), static_cast<int64_t>(expected.size()));
    }
}

TEST(StepBitsTest, ASlotIsABitOfItsWord) {
    std::vector<uint64_t> words(3);
    for (const int64_t slot : {0, 63, 64, 129}) {
        EXPECT_FALSE(Contains(words.data(), slot));
        words[static_cast<size_t>(slot / kSlotsPerWord)] |= BitOf(slot);
        EXPECT_TRUE(Contains(words.data(), slot));
    }
    EXPECT_EQ(words[0], 0x8000000000000001U);
    EXPECT_EQ(words[1], 1U);
    EXPECT_EQ(words[2], 2U);
    EXPECT_EQ(WordsOf(0), 0);
    EXPECT_EQ(WordsOf(64), 1);
    EXPECT_EQ(WordsOf(65), 2);
}

}  // namespace
}  // namespace advstep
