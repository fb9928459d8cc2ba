// SPDX-License-Identifier: Apache-2.0
// The list of programs, and a program's life in its process.
#include "corpus.h"

#include <cstdio>
#include <cstdlib>

#include "device_program.h"

namespace corpus {

std::vector<Program>& Programs() {
    static auto* const programs = new std::vector<Program>;
    return *programs;
}

int RunProgram(const std::string& name) {
    for (const Program& program : Programs()) {
        if (name == program.name) {
            Must(aclInit(nullptr));
            Must(aclrtSetDevice(0));
            program.run();
            Must(aclrtResetDeviceForce(0));
            Must(aclFinalize());
            return 0;
        }
    }
    std::fprintf(stderr, "no program %s\n", name.c_str());
    return 2;
}

int ShowProgram(const std::string& name) {
    for (const Program& program : Programs()) {
        if (name == program.name) {
            setenv("ADVANCE_STEP_SANITIZE", program.checks.c_str(), 1);
            for (const auto& [setting, value] : program.settings) {
                setenv(setting.c_str(), value.c_str(), 1);
            }
        }
    }
    return RunProgram(name);
}

}  // namespace corpus
