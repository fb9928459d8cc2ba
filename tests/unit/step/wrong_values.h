// SPDX-License-Identifier: Apache-2.0
// Values of a slot that may be a fault, so that a word of slots is left to the plain code.
#ifndef ADVANCE_STEP_TESTS_UNIT_STEP_WRONG_VALUES_H_
#define ADVANCE_STEP_TESTS_UNIT_STEP_WRONG_VALUES_H_

#include <cstdint>
#include <vector>

namespace unit {

// One array of `Slots` with one value.
template <class Slots>
struct WrongValue {
    const char* name;
    std::vector<int32_t> Slots::*array;
    int32_t value;
};

// For tables of so many columns, and rows of so many tokens.
template <class Slots>
std::vector<WrongValue<Slots>> WrongValues(int32_t tableWidth, int32_t rowTokens) {
    return {{"used negative", &Slots::used, -1},
            {"used least", &Slots::used, INT32_MIN},
            {"used beyond", &Slots::used, tableWidth + 1},
            {"used most", &Slots::used, INT32_MAX},
            {"encoder negative", &Slots::encoder, -1},
            {"encoder least", &Slots::encoder, INT32_MIN},
            {"encoder beyond", &Slots::encoder, tableWidth + 1},
            {"encoder most", &Slots::encoder, INT32_MAX},
            {"decoder negative", &Slots::decoder, -1},
            {"decoder least", &Slots::decoder, INT32_MIN},
            {"decoder beyond", &Slots::decoder, rowTokens},
            {"decoder most", &Slots::decoder, INT32_MAX}};
}

}  // namespace unit

#endif  // ADVANCE_STEP_TESTS_UNIT_STEP_WRONG_VALUES_H_
