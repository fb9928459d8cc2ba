// SPDX-License-Identifier: Apache-2.0
// Says in a changed source which of its changes takes place, and notes which places have been
// reached.

#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct AdvStepChosenChange {
    int number = 0;
    unsigned char* reached = nullptr;  // a byte per number, in a file that all processes share
};

// The variables are none of ADVANCE_STEP_*, which tests clear before they start programs.
inline AdvStepChosenChange AdvStepReadChosen() {
    AdvStepChosenChange chosen;
    if (const char* const number = getenv("SMALL_CHANGE")) {
        chosen.number = atoi(number);
    }
    if (const char* const path = getenv("SMALL_CHANGES_REACHED")) {
        const int file = open(path, O_RDWR | O_CLOEXEC);
        const off_t bytes = file < 0 ? 0 : lseek(file, 0, SEEK_END);
        void* const map = bytes <= 0 ? MAP_FAILED
                                     : mmap(nullptr, static_cast<size_t>(bytes),
                                            PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        chosen.reached = map == MAP_FAILED ? nullptr : static_cast<unsigned char*>(map);
        if (file >= 0) {
            close(file);
        }
    }
    return chosen;
}

inline bool AdvStepChange(int number) {
    static const AdvStepChosenChange chosen = AdvStepReadChosen();
    if (chosen.reached != nullptr) {
        __atomic_store_n(chosen.reached + number, static_cast<unsigned char>(1), __ATOMIC_RELAXED);
    }
    return number == chosen.number;
}
