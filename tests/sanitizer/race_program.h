// SPDX-License-Identifier: Apache-2.0
// Small random programs of two or three streams that touch up to three buffers.
#ifndef ADVANCE_STEP_TESTS_SANITIZER_RACE_PROGRAM_H_
#define ADVANCE_STEP_TESTS_SANITIZER_RACE_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace race {

inline constexpr int kStreams = 3;
inline constexpr int kBuffers = 3;
inline constexpr int kEvents = 3;
inline constexpr int kNotifies = 2;
inline constexpr int kWords = 2;
inline constexpr int kMostSteps = 16;
inline constexpr int kModelTasks = 4;
inline constexpr int kSitesOfProgram = kMostSteps + kModelTasks;
inline constexpr int kPrograms = 16;  // that one process runs
inline constexpr int kBufferBytes = 64;

enum class Call {
    kFill,    // writes range in a stream
    kCopy,    // reads from in a stream and writes range
    kReduce,  // as kCopy, and reads range
    kRecord,  // object is an event
    kWait,
    kNotify,  // object is a notify
    kWaitNotify,
    kWriteValue,  // object is a word, which is 0 at first and written once
    kWaitValue,
    kSyncStream,
    kSyncEvent,
    kSyncDevice,
    kAskStream,  // asks for the status until it is complete
    kAskEvent,
    kHostWrite,  // a synchronous fill of range
    kHostRead,   // a synchronous copy of range to the host
    kRenew,      // frees the buffer of range and allocates another one
    kReplay,     // runs the program's model in a stream
};

struct Range {
    int buffer = 0;
    int begin = 0;
    int end = 0;  // bytes
};

// A call. The calls of a program are made one after another.
struct Step {
    Call call = Call::kFill;
    int stream = 0;
    int object = 0;
    Range range;
    Range from;
    bool inThread = false;  // by a thread of its own, which is joined before the next call
};

using Steps = std::vector<Step>;

// The work of the model that a program captures before its first step: one access, one on a branch
// beside one on the main stream, and one after the join. All are fills or copies.
inline constexpr size_t kBranchTask = 1;

struct Program {
    Steps steps;
    Steps model;  // empty, or kModelTasks accesses
};

// A program whose every value comes from the seed. Each notify is given and awaited once or not at
// all, and each word that is awaited is written; whether the program ends is for MayHang of
// race_reference.h to say.
Program MakeProgram(uint64_t seed);
std::string TextOf(const Program& program);

// In a child: runs the programs of "FIRST SEED SEED ...". Step i of the program of a seed is called
// by the function Site<(SEED - FIRST) * kSitesOfProgram + i>, whose name is in the stacks of
// findings, and task i of its model is captured by that of i + kMostSteps.
int RunPrograms(const std::string& seeds);

// The number in the first "Site<N>" of a text; -1: there is none.
int SiteIn(const std::string& text);

}  // namespace race

#endif  // ADVANCE_STEP_TESTS_SANITIZER_RACE_PROGRAM_H_
