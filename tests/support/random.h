// SPDX-License-Identifier: Apache-2.0
// Random numbers for batches, the same in every run.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_RANDOM_H_
#define ADVANCE_STEP_TESTS_SUPPORT_RANDOM_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace support {

class Random {
 public:
    explicit Random(uint64_t seed) : engine_(seed) {}
    int64_t Between(int64_t first, int64_t last) {
        return first + static_cast<int64_t>(engine_() % static_cast<uint64_t>(last - first + 1));
    }
    // Small numbers as often as large ones.
    int64_t Size(int64_t last) {
        const double bits = std::log2(static_cast<double>(last));
        const double power = static_cast<double>(Between(0, 1000)) / 1000 * bits;
        return std::clamp<int64_t>(static_cast<int64_t>(std::exp2(power)), 1, last);
    }
    bool OneIn(int64_t count) { return Between(1, count) == 1; }
    template <class T, size_t N>
    T OneOf(const T (&values)[N]) {
        return values[Between(0, static_cast<int64_t>(N) - 1)];
    }

 private:
    std::mt19937_64 engine_;
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_RANDOM_H_
