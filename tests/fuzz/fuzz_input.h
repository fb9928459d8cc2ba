// SPDX-License-Identifier: Apache-2.0
// Values taken from the bytes of a fuzzer.

#pragma once

#include <cstddef>
#include <cstdint>

/// Takes values off the fuzzer's bytes; zeros when they have run out.
class FuzzInput {
 public:
    FuzzInput(const uint8_t* data, size_t size) : data_(data), size_(size) {}

    bool IsOver() const { return at_ >= size_; }

    uint8_t Byte() { return at_ < size_ ? data_[at_++] : uint8_t{0}; }

    int64_t In(int64_t low, int64_t high) {
        return low + static_cast<int64_t>(Word() % static_cast<uint64_t>(high - low + 1));
    }

    /// Mostly small, now and then one of the limits of 32 and 64 bits.
    int64_t Value(int64_t most) {
        switch (Byte() % 16) {
            case 0:
                return static_cast<int64_t>(Word());
            case 1:
                return INT64_MAX - In(0, 2);
            case 2:
                return INT64_MIN + In(0, 2);
            case 3:
                return INT32_MAX - In(-2, 2);
            case 4:
                return -In(1, 3);
            default:
                return In(0, most);
        }
    }

 private:
    uint64_t Word() {
        uint64_t word = 0;
        for (int index = 0; index < 8; ++index) {
            word = word << 8 | Byte();
        }
        return word;
    }

    const uint8_t* data_;
    size_t size_;
    size_t at_ = 0;
};
