// SPDX-License-Identifier: Apache-2.0
// Tests of launches: phases, cores, faults, warnings, payloads, and how long they count as.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/runtime/device/device.h"
#include "src/runtime/device/kernel_launch.h"
#include "support/watchdog.h"
#include "unit/status_check.h"

namespace advstep {

namespace {

using unit::FailsWith;
using unit::Succeeds;

constexpr int32_t kMostCores = 64;

// What the kernels below do to a launch's payload.
struct Board {
    std::atomic<int> first[kMostCores];   // times each core was played in the first phase
    std::atomic<int> second[kMostCores];  // ... and in the second
    std::atomic<int> firstOnes;
    std::atomic<int> early;        // second phases that saw an unfinished first one
    std::atomic<int> bothAtOnce;   // calls that did two phases
    std::atomic<uint64_t> faulty;  // cores that report a fault, as bits
};

struct Payload {
    Board* board;
    int32_t coreCount;
};

const Payload& Of(const void* payload) { return *static_cast<const Payload*>(payload); }

void First(const CoreContext& core, const void* payload) {
    ++Of(payload).board->first[core.index];
    ++Of(payload).board->firstOnes;
}

void Second(const CoreContext& core, const void* payload) {
    Board& board = *Of(payload).board;
    board.early += board.firstOnes < Of(payload).coreCount ? 1 : 0;
    ++board.second[core.index];
}

// A faulty core reports rows 10 * index + 1 and + 0, in this order.
void Faulty(const CoreContext& core, const void* payload) {
    First(core, payload);
    if ((Of(payload).board->faulty >> core.index & 1) != 0) {
        core.Report(10 * core.index + 1, 5, {-1});
        core.Report(10 * core.index, 6, {100 + core.index, 7, 8, 9, 10});
    }
}

// Both phases in one call.
void FaultyAndSecond(const CoreContext& all, const void* payload) {
    for (CoreContext core = all; core.index < all.count; ++core.index) {
        Faulty(core, payload);
    }
    for (CoreContext core = all; !all.fault->found() && core.index < all.count; ++core.index) {
        Second(core, payload);
    }
    Of(payload).board->bothAtOnce += 1;
}

FaultReport Describe(const Fault& fault, const void* payload) {
    return {507035, "row " + std::to_string(fault.row) + " kind " + std::to_string(fault.kind) +
                        " values " + std::to_string(fault.values[0]) + " " +
                        std::to_string(fault.values[3]) + " of " +
                        std::to_string(Of(payload).coreCount)};
}

KernelProgram Program(std::initializer_list<KernelPhase> phases) {
    KernelProgram program;
    program.call = "aclnnSomething";
    program.describe = &InWords<&Describe>;
    for (const KernelPhase& phase : phases) {
        program.phases[program.phaseCount++] = phase;
    }
    return program;
}

struct MachineCase {
    const char* name;
    int32_t threads;
    std::optional<uint64_t> seed;
    int64_t rows;
};

// Serial, threads because of the rows, threads because of the shuffled order.
class KernelLaunchTest : public testing::TestWithParam<MachineCase> {
 protected:
    KernelLaunchTest() : device_(0, MakeSettings()) {}

    static Settings MakeSettings() {
        Settings settings;
        settings.threads = GetParam().threads;
        settings.coreOrder = GetParam().seed;
        return settings;
    }

    Status Run(const KernelProgram& program, int32_t coreCount) {
        const Payload payload{&board_, coreCount};
        KernelLaunch launch;
        launch.program = &program;
        launch.device = &device_;
        launch.coreCount = coreCount;
        launch.rows = GetParam().rows;
        return RunKernel(launch, &payload);
    }

    support::Watchdog watchdog_{std::chrono::seconds(60)};
    const Device device_;
    Board board_{};
};

TEST_P(KernelLaunchTest, EveryCoreIsPlayedOnceInEveryPhase) {
    const KernelProgram program = Program({{&First}, {&Second}});
    for (const int32_t coreCount : {1, 2, 7, 40, 48}) {
        for (int core = 0; core < kMostCores; ++core) {
            board_.first[core] = board_.second[core] = 0;
        }
        board_.firstOnes = 0;
        EXPECT_TRUE(Succeeds(Run(program, coreCount)));
        for (int core = 0; core < kMostCores; ++core) {
            EXPECT_EQ(board_.first[core], core < coreCount ? 1 : 0) << core;
            EXPECT_EQ(board_.second[core], core < coreCount ? 1 : 0) << core;
        }
        EXPECT_EQ(board_.early, 0);  // a phase begins when the one before has ended everywhere
    }
}

TEST_P(KernelLaunchTest, LowestRowIsReported) {
    const KernelProgram program = Program({{&Faulty}, {&Second}});
    board_.faulty = (uint64_t{1} << 3) | (uint64_t{1} << 17) | (uint64_t{1} << 39);
    for (int round = 0; round < 20; ++round) {
        EXPECT_TRUE(FailsWith(507035, Run(program, 40),
                              {"aclnnSomething: row 30 kind 6 values 103 9 of 40"}));
    }
}

TEST_P(KernelLaunchTest, FailingPhaseIsPlayedToItsEndAndIsTheLast) {
    const KernelProgram program = Program({{&Faulty}, {&Second}});
    board_.faulty = 1;
    EXPECT_TRUE(FailsWith(507035, Run(program, 40)));
    EXPECT_EQ(board_.firstOnes, 40);
    for (const std::atomic<int>& played : board_.second) {
        EXPECT_EQ(played, 0);
    }
}

TEST_P(KernelLaunchTest, WarningPhaseIsLoggedAndTheNextOneRuns) {
    const KernelProgram program = Program({{&Faulty, OnFault::kWarn}, {&Second}});
    board_.faulty = uint64_t{1} << 4;
    SetLogLevel(LogLevel::kError);  // asked for, so logged at every level
    testing::internal::CaptureStderr();
    EXPECT_TRUE(Succeeds(Run(program, 40)));
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find("aclnnSomething: row 40 kind 6"), std::string::npos) << log;
    EXPECT_EQ(board_.second[0], 1);
    EXPECT_EQ(board_.second[39], 1);
}

// One thread that plays few rows in order calls it, everything else the phases.
TEST_P(KernelLaunchTest, FirstTwoPhasesInOneCallAreTheSame) {
    KernelProgram program = Program({{&Faulty}, {&Second}, {&First}});
    program.firstTwo = &FaultyAndSecond;
    EXPECT_TRUE(Succeeds(Run(program, 40)));
    for (int core = 0; core < kMostCores; ++core) {
        EXPECT_EQ(board_.first[core], core < 40 ? 2 : 0) << core;
        EXPECT_EQ(board_.second[core], core < 40 ? 1 : 0) << core;
    }
    EXPECT_EQ(board_.early, 0);
    board_.faulty = (uint64_t{1} << 3) | (uint64_t{1} << 17);
    EXPECT_TRUE(
        FailsWith(507035, Run(program, 40), {"aclnnSomething: row 30 kind 6 values 103 9 of 40"}));
    EXPECT_EQ(board_.second[0], 1);
    EXPECT_EQ(board_.first[0], 3);
    const bool plain = GetParam().rows < 1024 && !GetParam().seed;
    EXPECT_EQ(board_.bothAtOnce, plain ? 2 : 0);
}

void CountCall(const CoreContext& /*core*/, const void* payload) { ++Of(payload).board->firstOnes; }

// Also those of several cores in one call.
TEST_P(KernelLaunchTest, NoCoresCallNoPhase) {
    KernelProgram program = Program({{&CountCall}, {&CountCall, OnFault::kFail, true}});
    EXPECT_TRUE(Succeeds(Run(program, 0)));
    program.firstTwo = &CountCall;
    EXPECT_TRUE(Succeeds(Run(program, 0)));
    EXPECT_EQ(board_.firstOnes, 0);
}

INSTANTIATE_TEST_SUITE_P(Table, KernelLaunchTest,
                         testing::Values(MachineCase{"OneThread", 1, std::nullopt, 8},
                                         MachineCase{"OneThreadManyRows", 1, std::nullopt, 1 << 20},
                                         MachineCase{"OneThreadShuffled", 1, 3, 8},
                                         MachineCase{"FourThreadsFewRows", 4, std::nullopt, 8},
                                         MachineCase{"FourThreadsManyRows", 4, std::nullopt,
                                                     1 << 20},
                                         MachineCase{"FourThreadsShuffled", 4, 3, 8},
                                         MachineCase{"TwoThreadsShuffledManyRows", 2, 11, 1 << 20}),
                         [](const auto& row) { return std::string(row.param.name); });

// Cores are played in the device's order; one thread, so the order can be seen.
TEST(KernelOrderTest, CoresArePlayedInTheDevicesOrder) {
    static std::vector<int32_t> played;
    const KernelProgram program =
        Program({{[](const CoreContext& core, const void*) { played.push_back(core.index); }}});
    for (const std::optional<uint64_t> seed : {std::optional<uint64_t>(), {7}}) {
        Settings settings;
        settings.coreOrder = seed;
        const Device device(0, settings);
        played.clear();
        EXPECT_TRUE(Succeeds(RunKernel({&program, &device, 10, {0}, 10}, nullptr)));
        EXPECT_EQ(played, seed ? (std::vector<int32_t>{8, 1, 5, 9, 0, 4, 3, 2, 6, 7})
                               : (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    }
}

TEST(KernelTaskTest, CarriesItsOwnCopyOfThePayload) {
    const KernelProgram program = Program({{&First}});
    const Device device(0, Settings{});
    Board board{};
    Payload payload{&board, 3};
    const PlannedLaunch launch{{&program, &device, 3, {0}, 3}, sizeof(payload)};
    alignas(kTaskAlignment) unsigned char record[256];
    ASSERT_LE(KernelTask::BytesFor(launch), sizeof(record));
    EXPECT_EQ(KernelTask::BytesFor(launch), sizeof(KernelTask) + sizeof(payload));
    const Task* const task = KernelTask::Make(record, launch, &payload);
    payload.board = nullptr;
    EXPECT_EQ(task->kind, TaskKind::kPlain);
    EXPECT_TRUE(Succeeds(task->run(*task)));
    EXPECT_TRUE(Succeeds(task->run(*task)));
    EXPECT_EQ(board.firstOnes, 6);
}

// It may take long then, and runs as any other.
TEST(KernelTaskTest, ATaskWhoseProgramThrowsIsNotBrief) {
    KernelProgram program = Program({{&First}});
    program.isBrief = [](const void*) -> bool { throw 1; };
    const Device device(0, Settings{});
    Board board{};
    const Payload payload{&board, 1};
    PlannedLaunch launch{{&program, &device, 1, {0}, 1}, sizeof(payload)};
    launch.length = LengthOf(program, 1, -1);
    alignas(kTaskAlignment) unsigned char record[256];
    const Task& task = *KernelTask::Make(record, launch, &payload);
    EXPECT_FALSE(task.brief());
    EXPECT_TRUE(task.mayTakeLong());
    EXPECT_TRUE(Succeeds(task.run(task)));
    EXPECT_EQ(board.firstOnes, 1);
}

TEST(KernelTaskTest, ATaskWhoseDataDecideAsksItsProgram) {
    KernelProgram program = Program({{&First}});
    program.isBrief = [](const void* payload) { return Of(payload).coreCount == 3; };
    const Device device(0, Settings{});
    PlannedLaunch launch{{&program, &device, 1, {0}, 1}, sizeof(Payload)};
    launch.length = LengthOf(program, 1, -1);
    alignas(kTaskAlignment) unsigned char record[256];
    for (const int32_t cores : {3, 4}) {
        const Payload payload{nullptr, cores};
        EXPECT_EQ(KernelTask::Make(record, launch, &payload)->brief(), cores == 3) << cores;
    }
}

TEST(FaultTest, CoreContextKeepsTheLowestRow) {
    Fault fault;
    const CoreContext core{0, &fault};
    EXPECT_FALSE(fault.found());
    core.Report(9, 1, {1});
    core.Report(4, 2, {2, 3});
    core.Report(4, 3, {4});
    core.Report(5, 4, {5});
    EXPECT_TRUE(fault.found());
    EXPECT_EQ(fault.row, 4);
    EXPECT_EQ(fault.kind, 2);
    EXPECT_EQ(fault.values[0], 2);
    EXPECT_EQ(fault.values[1], 3);
    EXPECT_EQ(fault.values[2], 0);
    core.Report(0, 7, {});
    EXPECT_EQ(fault.row, 0);
    EXPECT_EQ(fault.values[0], 0);  // nothing is left of the fault before
}

// How long launches count as, by their programs and rows, and their time limits.

constexpr int64_t kUnknown = -1;

TEST(LaunchLengthTest, MuchWorkIsHeavy) {
    const KernelProgram program;
    EXPECT_EQ(LengthOf(program, 8, 256), TaskLength::kUsual);
    EXPECT_EQ(LengthOf(program, 8, 16384), TaskLength::kUsual);
    EXPECT_EQ(LengthOf(program, 8, 16385), TaskLength::kHeavy);
    EXPECT_EQ(LengthOf(program, 16385, kUnknown), TaskLength::kHeavy);
    EXPECT_EQ(LengthOf(program, 16385, 8), TaskLength::kHeavy);  // less work than rows is wrong
}

// Rows of which the data decide may be long.
TEST(LaunchLengthTest, FewEvenRowsAreBriefAndThoseWhoseDataDecideMayBe) {
    KernelProgram program;
    program.isBrief = [](const void*) { return true; };
    EXPECT_EQ(LengthOf(program, 2048, kUnknown), TaskLength::kByData);
    EXPECT_EQ(LengthOf(program, 2049, kUnknown), TaskLength::kUnknown);
    EXPECT_EQ(LengthOf(program, 16384, kUnknown), TaskLength::kUnknown);
    EXPECT_EQ(LengthOf(program, 16385, kUnknown), TaskLength::kHeavy);
    program.evenRows = true;
    EXPECT_EQ(LengthOf(program, 2048, kUnknown), TaskLength::kBrief);
    EXPECT_EQ(LengthOf(program, 2049, kUnknown), TaskLength::kUsual);
}

TEST(LaunchLengthTest, RowsTellLittleUnlessTheyAreEvenOrTheirWorkIsKnown) {
    KernelProgram program;
    for (const int64_t rows : {0, 1, 2048, 2049, 16384}) {
        EXPECT_EQ(LengthOf(program, rows, kUnknown), TaskLength::kUnknown) << rows;
        EXPECT_EQ(LengthOf(program, rows, rows), TaskLength::kUsual) << rows;
    }
}

// The kernel of it takes 3 us or more.
TEST(LaunchLengthTest, ALaunchThatTakesLongerThanItsLimitFailsAtItsEnd) {
    using Clock = std::chrono::steady_clock;
    KernelProgram program;
    program.call = "aclnnSlow";
    program.phaseCount = 1;
    program.phases[0].run = [](const CoreContext&, const void* payload) {
        const auto begin = Clock::now();
        while (Clock::now() - begin < std::chrono::microseconds(3)) {
        }
        ++**static_cast<int* const*>(payload);
    };
    const Device device(0, Settings{});
    int runs = 0;
    const int* const payload = &runs;
    PlannedLaunch launch;
    launch.program = &program;
    launch.device = &device;
    launch.coreCount = 1;
    launch.payloadBytes = sizeof(payload);
    alignas(kTaskAlignment) unsigned char record[256];
    const Task& task = *KernelTask::Make(record, launch, &payload);
    constexpr int32_t kCode = ACL_ERROR_RT_VECTOR_CORE_TIMEOUT;
    EXPECT_TRUE(unit::FailsWith(kCode, RunKernelTaskWithin(task, 1, kCode),
                                {"aclnnSlow: took ", "; expected at most 1 us"}));
    EXPECT_TRUE(unit::Succeeds(RunKernelTaskWithin(task, 0, kCode)));
    EXPECT_TRUE(unit::Succeeds(RunKernelTaskWithin(task, UINT64_MAX, kCode)));
    EXPECT_TRUE(unit::Succeeds(RunOperatorTask(task)));
    EXPECT_TRUE(unit::Succeeds(RunFloatOperatorTask(task)));
    EXPECT_EQ(runs, 5);
}

}  // namespace

}  // namespace advstep
