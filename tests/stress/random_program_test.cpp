// SPDX-License-Identifier: Apache-2.0
// Random programs of runtime calls, legal and illegal, against a sequential model.
//
// ADVANCE_STEP_TEST_SEED=... runs the one program of that seed, twice: alone and as beside others.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "stress/program_generator.h"
#include "support/runtime_test.h"
#include "support/sanitizers.h"

namespace stress {
namespace {

constexpr size_t kCallsInAll = support::kThreadSanitizer ? 40'000 : 120'000;
constexpr size_t kCallsPerProgram = 600;
constexpr int kProgramsBeside = 4;

class RandomProgramTest : public testing::Test {
 protected:
    void SetUp() override {
        if (const char* text = std::getenv("ADVANCE_STEP_TEST_SEED"); text != nullptr) {
            seed_ = std::strtoull(text, nullptr, 10);
            once_ = true;
        } else {
            std::random_device device;
            seed_ = (static_cast<uint64_t>(device()) << 20) % 1'000'000'000'000;
        }
        std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
        std::fflush(stdout);
        settings_ = std::make_unique<support::SettingsGuard>(
            support::Settings{{"ADVANCE_STEP_DEVICES", std::to_string(kProgramsBeside)}});
        ASSERT_TRUE(support::IsOk(settings_->Status()));
    }

    // Runs the program of the seed; if it fails, looks for the shortest begin that fails too.
    static size_t Run(ProgramOptions options, int32_t device) {
        const Program program = GenerateProgram(options);
        const Failure failure = RunProgram(program, device);
        if (failure.what.empty()) {
            return program.calls.size();
        }
        Program shortest = program;
        Failure last = failure;
        for (size_t low = 0, high = std::min(failure.call + 1, options.limit); low < high;) {
            options.limit = low + (high - low) / 2;
            const Program shorter = GenerateProgram(options);
            const Failure again = RunProgram(shorter, device);
            if (again.what.empty()) {
                low = options.limit + 1;
            } else {
                high = options.limit;
                shortest = shorter;
                last = again;
            }
        }
        ADD_FAILURE() << "seed " << options.seed << (options.parallel ? ", beside others" : "")
                      << ", call " << last.call << ": " << last.what << "\n"
                      << ListCalls(shortest, last.call + 1);
        return program.calls.size();
    }

    uint64_t seed_ = 0;
    bool once_ = false;

 private:
    ProgressMonitor monitor_;
    std::unique_ptr<support::SettingsGuard> settings_;
};

TEST_F(RandomProgramTest, ReturnsAndLeavesWhatTheModelSays) {
    size_t calls = 0;
    for (uint64_t seed = seed_; calls < kCallsInAll / 2 && !HasFailure(); ++seed) {
        calls += Run({seed, kCallsPerProgram, false}, 0);
        if (once_) {
            break;
        }
    }
    std::printf("%zu calls\n", calls);
}

TEST_F(RandomProgramTest, DoesSoBesideOtherPrograms) {
    std::atomic<size_t> calls{0};
    std::vector<std::thread> threads;
    for (int32_t index = 0; index < kProgramsBeside; ++index) {
        threads.emplace_back([&, index] {
            for (uint64_t seed = seed_ + static_cast<uint64_t>(index);
                 calls.load() < kCallsInAll / 2 && !HasFailure(); seed += kProgramsBeside) {
                calls += Run({seed, kCallsPerProgram, true}, index);
                if (once_) {
                    break;
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::printf("%zu calls\n", calls.load());
}

}  // namespace
}  // namespace stress
