// SPDX-License-Identifier: Apache-2.0
// What the process and the library have, compared before and after a life.
#ifndef ADVANCE_STEP_TESTS_CHAOS_LEAKS_H_
#define ADVANCE_STEP_TESTS_CHAOS_LEAKS_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace chaos {

struct Belongings {
    size_t files = 0;  // open ones, but those in memory
    size_t memoryFiles = 0;
    size_t threads = 0;
    size_t usedMemory = 0;  // bytes of device 0, in a runtime that has just begun
    uint32_t streams = 0;   // that device 0 still could make
};

// Starts and ends a runtime; none may be there.
Belongings TakeStock();

// The difference in words, or "".
std::string Lost(const Belongings& before, const Belongings& after);

}  // namespace chaos

#endif  // ADVANCE_STEP_TESTS_CHAOS_LEAKS_H_
