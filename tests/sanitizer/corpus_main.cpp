// SPDX-License-Identifier: Apache-2.0
// The tests, or one program of the corpus: sanitizer_corpus --program NAME, or
// --show NAME under its own check.
#include <gtest/gtest.h>

#include <cstring>

#include "corpus.h"
#include "race_program.h"

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--program") == 0) {
        return corpus::RunProgram(argv[2]);
    }
    if (argc == 3 && std::strcmp(argv[1], "--show") == 0) {
        return corpus::ShowProgram(argv[2]);
    }
    if (argc == 3 && std::strcmp(argv[1], "--races") == 0) {
        return race::RunPrograms(argv[2]);
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
