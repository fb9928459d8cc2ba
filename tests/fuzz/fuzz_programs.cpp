// SPDX-License-Identifier: Apache-2.0
// Sequences of runtime calls, legal and illegal: the input makes the choices of the generator of
// random programs, and every code, status and memory cell is what its model says. Programs queue
// only waits that end, so a hang is the library's.
#include <cstdio>
#include <cstdlib>

#include "fuzz/fuzz_machine.h"
#include "stress/program_generator.h"

extern "C" int fuzz_programs(const uint8_t* bytes, size_t size) {
    static const stress::ProgressMonitor monitor;
    const std::vector<uint8_t> choices(bytes, bytes + size);
    stress::ProgramOptions options;
    options.limit = 400;
    options.choices = &choices;
    const stress::Program program = stress::GenerateProgram(options);
    const stress::Failure failure = stress::RunProgram(program, 0);
    if (!failure.what.empty()) {
        std::fprintf(stderr, "call %zu: %s\n%s", failure.call, failure.what.c_str(),
                     stress::ListCalls(program, failure.call + 1).c_str());
        std::abort();
    }
    return 0;
}
