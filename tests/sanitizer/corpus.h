// SPDX-License-Identifier: Apache-2.0
// The programs of the corpus: bad ones with what the sanitizer must find, and right ones.
//
//     // project: what was reported there.
//     BAD_PROGRAM(NAME, "memory", {{"memory", "freed_in_use", {"aclrtFree", "seqLens"}}}) { ... }
//     RIGHT_PROGRAM(NAME) { ... }
//
// A program starts with device 0 current and ends without care for its streams and memory: the end
// of the runtime frees them.
#ifndef ADVANCE_STEP_TESTS_SANITIZER_CORPUS_H_
#define ADVANCE_STEP_TESTS_SANITIZER_CORPUS_H_

#include <ostream>
#include <string>
#include <vector>

#include "support/settings.h"

namespace corpus {

// A line of the sanitizer's file.
struct Finding {
    std::string check;
    std::string finding;
    std::vector<std::string> words;  // that the line has somewhere: arguments, calls, functions
};

struct Program {
    const char* name;
    void (*run)();
    std::string checks;              // ADVANCE_STEP_SANITIZE with which it is found
    std::vector<Finding> findings;   // one line each; empty: a right program
    std::vector<Finding> also = {};  // lines that may come, too, without words
    support::Settings settings = {};
};

std::vector<Program>& Programs();

// The name of a program, for the messages of GoogleTest.
inline void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

// Registers a program for as long as the process lives.
struct Registered {
    explicit Registered(const Program& program) { Programs().push_back(program); }
};

// Runs a program in this process; returns the exit status.
int RunProgram(const std::string& name);
// The same under the program's check and settings.
int ShowProgram(const std::string& name);

}  // namespace corpus

// Functions with external names: the stacks of findings have them.
#define BAD_PROGRAM(NAME, ...)                           \
    void NAME();                                         \
    static const ::corpus::Registered kRegistered##NAME( \
        ::corpus::Program{#NAME, &NAME, __VA_ARGS__});   \
    void NAME()

#define RIGHT_PROGRAM(NAME) BAD_PROGRAM(NAME, "all", {})

#endif  // ADVANCE_STEP_TESTS_SANITIZER_CORPUS_H_
