// SPDX-License-Identifier: Apache-2.0
// Ranges against arrays of single numbers.

#include "src/runtime/sanitizer/interval_map.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace advstep {
namespace {

constexpr uint64_t kNumbers = 32;

TEST(IntervalMapTest, FillsAndErasesAsSingleNumbersDo) {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        IntervalMap<int> map;
        std::array<int, kNumbers> single{};
        for (int step = 1; step < 30; ++step) {
            uint64_t begin = random() % kNumbers;
            uint64_t end = random() % (kNumbers + 1);
            if (begin > end) {
                std::swap(begin, end);
            }
            if (random() % 4 == 0) {
                map.Erase(begin, end);
                std::fill(single.begin() + begin, single.begin() + end, 0);
            } else {
                map.Fill(begin, end, [&](uint64_t, uint64_t, int& value) { value = step; });
                std::fill(single.begin() + begin, single.begin() + end, step);
            }
            map.Sweep([](int) { return false; });
            std::array<int, kNumbers> found{};
            map.ForEach(0, kNumbers, [&](uint64_t from, uint64_t to, int value) {
                std::fill(found.begin() + from, found.begin() + to, value);
            });
            ASSERT_EQ(found, single);
        }
    }
}

TEST(IntervalSetTest, AddsAndRemovesAsSingleNumbersDo) {
    std::mt19937 random(2);
    for (int round = 0; round < 200; ++round) {
        IntervalSet set;
        std::array<bool, kNumbers> single{};
        for (int step = 0; step < 30; ++step) {
            uint64_t begin = random() % kNumbers;
            uint64_t end = random() % (kNumbers + 1);
            if (begin > end) {
                std::swap(begin, end);
            }
            const bool adds = random() % 2 == 0;
            if (adds) {
                set.Add(begin, end);
            } else {
                set.Remove(begin, end);
            }
            std::fill(single.begin() + begin, single.begin() + end, adds);
            std::array<bool, kNumbers> found{};
            set.ForEach(0, kNumbers, [&](uint64_t from, uint64_t to) {
                std::fill(found.begin() + from, found.begin() + to, true);
            });
            ASSERT_EQ(found, single);
        }
    }
}

}  // namespace
}  // namespace advstep
