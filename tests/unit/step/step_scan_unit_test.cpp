// SPDX-License-Identifier: Apache-2.0
// The look at 64 slots against one slot after the other with plain divisions.
#include "op_kernel/step/step_scan.h"
#include "unit/step/wrong_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace advstep {
namespace {

constexpr int64_t kSlots = 64;

int32_t ShiftOf(int64_t blockSize) {
    for (int32_t shift = 0; shift < 31; ++shift) {
        if (int64_t{1} << shift == blockSize) {
            return shift;
        }
    }
    return -1;
}

// All 64 slots run within `width` columns; the word begins at slot 64 of 128.
struct Word {
    Word(int64_t tableWidth, int64_t tokens, uint64_t seed)
        : width(tableWidth), blockSize(tokens), random(seed) {
        const int64_t mostTokens =
            std::min<int64_t>(width * std::min<int64_t>(blockSize, 1 << 30), INT32_MAX);
        for (int64_t slot = 0; slot < 2 * kSlots; ++slot) {
            thisTime.push_back(static_cast<int32_t>(random() % 3));
            decoder.push_back(static_cast<int32_t>(random() % static_cast<uint64_t>(mostTokens)));
            if (random() % 4 == 0) {  // the first token of a block, or the last
                const int64_t rounded = decoder.back() / blockSize * blockSize;
                decoder.back() = static_cast<int32_t>(
                    std::clamp<int64_t>(rounded - static_cast<int64_t>(random() % 2), 0, rounded));
            }
            used.push_back(static_cast<int32_t>(random() % static_cast<uint64_t>(width + 1)));
            encoder.push_back(
                static_cast<int32_t>(random() % static_cast<uint64_t>(width - used.back() + 1)));
            for (int64_t column = 0; column < width; ++column) {
                table.push_back(random() % 2 == 0 ? -1 : static_cast<int32_t>(random()));
            }
        }
    }

    bool Scan() {
        StepTiling tiling{};
        tiling.tableWidth = width;
        tiling.blockSize = blockSize;
        tiling.blockShift = ShiftOf(blockSize);
        tiling.blockInverse = 1.0 / static_cast<double>(blockSize);
        StepArgs args{};
        args.seqLensThisTime = thisTime.data();
        args.seqLensDecoder = decoder.data();
        args.usedListLen = used.data();
        args.encoderBlockLens = encoder.data();
        args.blockTables = table.data();
        return ScanWord(tiling, args, kSlots, &lacking, &sum);
    }

    uint64_t Expected() const {
        uint64_t expected = 0;
        for (int64_t i = 0; i < kSlots; ++i) {
            const auto slot = static_cast<size_t>(kSlots + i);
            const int64_t place = (kSlots + i) * width + decoder[slot] / blockSize;
            const bool lacks = thisTime[slot] != 0 && table[static_cast<size_t>(place)] == -1;
            expected |= static_cast<uint64_t>(lacks ? 1 : 0) << i;
        }
        return expected;
    }

    int64_t width, blockSize;
    std::mt19937_64 random;
    std::vector<int32_t> thisTime, decoder, used, encoder, table;
    uint64_t lacking = 0;
    int64_t sum = 0;
};

// 49 is the least number whose inverse, times itself, is less than 1 in doubles.
TEST(StepScanTest, AgreesWithPlainDivisions) {
    uint64_t seed = 0;
    for (const int64_t width : {1, 2, 7, 8, 100}) {
        for (const int64_t blockSize :
             std::initializer_list<int64_t>{1, 2, 3, 7, 16, 48, 49, 64, 98, 103, 1000, 65537,
                                            1 << 30, INT32_MAX, int64_t{1} << 40}) {
            SCOPED_TRACE(testing::Message() << "W " << width << ", blockSize " << blockSize);
            Word word(width, blockSize, ++seed);
            ASSERT_TRUE(word.Scan());
            EXPECT_EQ(word.lacking, word.Expected());
            EXPECT_EQ(word.sum,
                      std::accumulate(word.used.begin() + kSlots, word.used.end(), int64_t{0}));
        }
    }
}

// Each of these may be a fault, in any place of the word.
TEST(StepScanTest, LeavesAloneWhatMayBeWrong) {
    constexpr int32_t kScanWidth = 5;
    constexpr int32_t kTokens = 3;
    for (const auto& change : unit::WrongValues<Word>(kScanWidth, kScanWidth * kTokens)) {
        for (size_t slot = kSlots; slot < 2 * kSlots; ++slot) {
            SCOPED_TRACE(testing::Message() << change.name << " in slot " << slot);
            Word word(kScanWidth, kTokens, 1);
            ASSERT_TRUE(word.Scan());
            (word.*change.array)[slot] = change.value;
            EXPECT_FALSE(word.Scan());
        }
    }
    Word both(kScanWidth, kTokens, 1);
    both.used[kSlots] = both.encoder[kSlots] = INT32_MAX;  // their sum is -2
    EXPECT_FALSE(both.Scan());
}

TEST(StepScanTest, TheRoomIsJustEnoughOrOneShort) {
    for (const int64_t blockSize : {4, 5}) {
        Word word(6, blockSize, 2);
        word.used[kSlots + 9] = 4;
        word.encoder[kSlots + 9] = 2;
        word.decoder[kSlots + 9] = static_cast<int32_t>(6 * blockSize - 1);
        EXPECT_TRUE(word.Scan());
        EXPECT_EQ(word.lacking, word.Expected());
        word.encoder[kSlots + 9] = 3;
        EXPECT_FALSE(word.Scan());
    }
}

// Rows so long that a word of them does not fit 32 bits are looked at one by one.
TEST(StepScanTest, LeavesAloneVeryLongRows) {
    Word word(2, 4, 3);
    word.width = int64_t{1} << 25;
    EXPECT_FALSE(word.Scan());
}

}  // namespace
}  // namespace advstep
