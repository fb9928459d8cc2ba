// SPDX-License-Identifier: Apache-2.0
// Runs this executable once more, as a program under the sanitizer, and reads what it found.
#ifndef ADVANCE_STEP_TESTS_SANITIZER_PROGRAM_RUN_H_
#define ADVANCE_STEP_TESTS_SANITIZER_PROGRAM_RUN_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/settings.h"

namespace corpus {

struct ProgramRun {
    int status = -1;  // of waitpid; a process that takes too long is killed
    bool isLate = false;
    std::string errors;                    // what it wrote on standard error
    std::vector<nlohmann::json> findings;  // the lines of ADVANCE_STEP_SANITIZE_FILE
    std::string unreadable;                // a line that is no JSON
};

// Starts the executable with two arguments and these settings only.
ProgramRun RunChild(const std::string& mode, const std::string& argument,
                    support::Settings settings);

}  // namespace corpus

#endif  // ADVANCE_STEP_TESTS_SANITIZER_PROGRAM_RUN_H_
