// SPDX-License-Identifier: Apache-2.0
// The check race on random programs, against all their interleavings.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

#include "program_run.h"
#include "race_program.h"
#include "race_reference.h"

namespace race {
namespace {

constexpr uint64_t kSeeds = 160;

uint64_t FirstSeed() {
    const char* const text = std::getenv("ADVANCE_STEP_TEST_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

std::string TextOf(const Pairs& pairs) {
    std::string text;
    for (const auto& [a, b] : pairs) {
        text += " (" + std::to_string(a) + ", " + std::to_string(b) + ")";
    }
    return text;
}

TEST(RaceReferenceTest, HasOneOrderByInterleavingsAndByEdges) {
    int programs = 0;
    size_t races = 0;
    for (uint64_t seed = FirstSeed(); seed < FirstSeed() + 1000; ++seed) {
        const Program program = MakeProgram(seed);
        if (MayHang(program)) {
            continue;
        }
        const Pairs pairs = RacesByInterleavings(program);
        ASSERT_EQ(TextOf(pairs), TextOf(RacesByOrder(program))) << "seed " << seed << "\n"
                                                                << TextOf(program);
        ++programs;
        races += pairs.size();
    }
    EXPECT_GT(programs, 750);
    EXPECT_GT(races, 1000U);
}

// The pairs of each program in the lines of a process.
void ReadPairs(const corpus::ProgramRun& run, std::vector<Pairs>* found) {
    for (const nlohmann::json& line : run.findings) {
        std::vector<int> sites;
        for (const char* name : {"first", "second"}) {
            const int site = SiteIn(line["stacks"].value(name, nlohmann::json::array()).dump());
            if (site >= 0) {
                sites.push_back(site);
            }
        }
        ASSERT_EQ(line.value("finding", ""), "race") << line.dump(2);
        ASSERT_EQ(sites.size(), 2U) << line.dump(2);
        ASSERT_EQ(sites[0] / kSitesOfProgram, sites[1] / kSitesOfProgram) << line.dump(2);
        const std::pair<int, int> steps =
            std::minmax(sites[0] % kSitesOfProgram, sites[1] % kSitesOfProgram);
        (*found)[static_cast<size_t>(sites[0] / kSitesOfProgram)].insert(steps);
    }
}

// Runs the programs of kPrograms seeds, those that end, in one process.
void CheckPrograms(uint64_t first, const char* threads) {
    std::string seeds = std::to_string(first);
    for (uint64_t seed = first; seed < first + kPrograms; ++seed) {
        seeds += MayHang(MakeProgram(seed)) ? "" : " " + std::to_string(seed);
    }
    const corpus::ProgramRun run = corpus::RunChild(
        "--races", seeds, {{"ADVANCE_STEP_SANITIZE", "race"}, {"ADVANCE_STEP_THREADS", threads}});
    ASSERT_TRUE(!run.isLate && WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0)
        << "seeds " << seeds << "\n"
        << run.errors;
    std::vector<Pairs> found(kPrograms);
    ASSERT_NO_FATAL_FAILURE(ReadPairs(run, &found));
    for (uint64_t seed = first; seed < first + kPrograms; ++seed) {
        const Program program = MakeProgram(seed);
        const Pairs& told = found[seed - first];
        const std::string text = "seed " + std::to_string(seed) + "\n" + TextOf(program);
        if (MayHang(program)) {
            continue;
        }
        const Pairs races = RacesByInterleavings(program);
        EXPECT_TRUE(std::includes(races.begin(), races.end(), told.begin(), told.end()))
            << TextOf(told) << " are told, of" << TextOf(races) << ", " << text;
        const Pairs left = RacesByOrder(program, told);
        EXPECT_TRUE(left.empty()) << TextOf(left) << " are left when" << TextOf(told)
                                  << " are cured, " << text;
    }
}

// No race is invented, and none is missed: once those that are told have an order, there is no
// other one.
TEST(RandomRaceTest, FindsWhatTheInterleavingsSay) {
    for (uint64_t seed = FirstSeed(); seed < FirstSeed() + kSeeds; seed += kPrograms) {
        ASSERT_NO_FATAL_FAILURE(CheckPrograms(seed, seed % 2 == 0 ? "8" : "1"));
        if (HasFailure()) {
            return;
        }
    }
}

}  // namespace
}  // namespace race
