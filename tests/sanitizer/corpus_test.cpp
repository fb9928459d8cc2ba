// SPDX-License-Identifier: Apache-2.0
// Each bad program gives its findings in every run, and each right one gives none.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "corpus.h"
#include "program_run.h"
#include "support/table.h"

namespace corpus {
namespace {

using nlohmann::json;

std::vector<Program> ProgramsThat(bool areBad) {
    std::vector<Program> chosen;
    for (const Program& program : Programs()) {
        if (program.findings.empty() != areBad) {
            chosen.push_back(program);
        }
    }
    return chosen;
}

// Machines on which a program is run: none may change what is found. Limits are those of a SoC.
std::vector<support::Settings> Machines(const Program& program) {
    std::vector<support::Settings> machines = {
        {},
        {{"ADVANCE_STEP_THREADS", "1"}},
        {{"ADVANCE_STEP_THREADS", "8"}, {"ADVANCE_STEP_CORE_ORDER", "17"}},
    };
    if (program.checks != "limits") {
        machines.push_back({{"ADVANCE_STEP_THREADS", "1"}, {"ADVANCE_STEP_SOC", "sim:1"}});
        machines.push_back({{"ADVANCE_STEP_THREADS", "8"}, {"ADVANCE_STEP_SOC", "sim:8"}});
    }
    return machines;
}

// How often a bad program is run; ADVANCE_STEP_TEST_RUNS says another number.
size_t Runs() {
    const char* const text = std::getenv("ADVANCE_STEP_TEST_RUNS");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 5;
}

ProgramRun RunOn(const Program& program, const support::Settings& machine,
                 const std::string& checks) {
    support::Settings settings = program.settings;
    settings.insert(machine.begin(), machine.end());
    settings["ADVANCE_STEP_SANITIZE"] = checks;
    return RunChild("--program", program.name, settings);
}

bool IsOneOf(const std::string& word, const std::string& alternatives) {
    std::stringstream stream(alternatives);
    for (std::string alternative; std::getline(stream, alternative, '|');) {
        if (word == alternative) {
            return true;
        }
    }
    return false;
}

bool IsOfKind(const json& line, const Finding& finding) {
    return line.value("check", "") == finding.check &&
           IsOneOf(line.value("finding", ""), finding.finding);
}

std::string MissingWord(const json& line, const Finding& finding) {
    const std::string text = line.dump();
    for (const std::string& word : finding.words) {
        if (text.find(word) == std::string::npos) {
            return word;
        }
    }
    return "";
}

// Whether the lines are those that the program must give, and no others than may come, too.
testing::AssertionResult Gives(const std::vector<json>& lines, const Program& program) {
    std::vector<bool> isExplained(lines.size(), false);
    for (const Finding& finding : program.findings) {
        bool isFound = false;
        std::string missing;
        for (size_t i = 0; i < lines.size() && !isFound; ++i) {
            if (isExplained[i] || !IsOfKind(lines[i], finding)) {
                continue;
            }
            const std::string word = MissingWord(lines[i], finding);
            isFound = word.empty();
            isExplained[i] = isFound;
            missing = isFound ? "" : " with the word " + word;
        }
        if (!isFound) {
            return testing::AssertionFailure()
                   << "no finding " << finding.check << ", " << finding.finding << missing;
        }
    }
    for (size_t i = 0; i < lines.size(); ++i) {
        const bool mayCome =
            std::any_of(program.also.begin(), program.also.end(),
                        [&](const Finding& finding) { return IsOfKind(lines[i], finding); });
        if (!isExplained[i] && !mayCome) {
            return testing::AssertionFailure() << "a finding too many: " << lines[i].dump(2);
        }
    }
    return testing::AssertionSuccess();
}

// What must be the same in every run: checks, kinds and stacks, without addresses of memory.
std::vector<std::string> Summary(const std::vector<json>& lines) {
    std::vector<std::string> summary;
    for (const json& line : lines) {
        summary.push_back(line.value("check", "") + " " + line.value("finding", "") + " " +
                          line.value("stacks", json::object()).dump());
    }
    std::sort(summary.begin(), summary.end());
    return summary;
}

std::string LinesOf(const ProgramRun& run) {
    std::string text = run.errors;
    for (const json& line : run.findings) {
        text += line.dump() + "\n";
    }
    return text;
}

class BadProgramTest : public testing::TestWithParam<Program> {};
class RightProgramTest : public testing::TestWithParam<Program> {};

// Wait for a second each.
bool IsSlow(const Program& program) { return program.settings.count("ADVANCE_STEP_HANG") != 0; }

// One readable text of at most 15 lines each, whose first line at least is printed as well.
void CheckTexts(const ProgramRun& run) {
    for (const json& line : run.findings) {
        const std::string text = line.value("text", "");
        EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 15) << text;
        EXPECT_NE(run.errors.find(text.substr(0, text.find('\n'))), std::string::npos)
            << run.errors;
        EXPECT_NE(text.find(line.value("check", "?")), std::string::npos) << text;
    }
}

TEST_P(BadProgramTest, GivesItsFindingsInEveryRun) {
    const Program& program = GetParam();
    std::vector<std::string> first;
    const std::vector<support::Settings> machines = Machines(program);
    const size_t runs = IsSlow(program) ? 2 : Runs();
    for (size_t i = 0; i < runs; ++i) {
        const ProgramRun run = RunOn(program, machines[i % machines.size()], program.checks);
        ASSERT_FALSE(run.isLate) << "run " << i << " took too long\n" << LinesOf(run);
        ASSERT_EQ(run.unreadable, "");
        ASSERT_TRUE(Gives(run.findings, program)) << "run " << i << "\n" << LinesOf(run);
        if (i == 0) {
            first = Summary(run.findings);
            CheckTexts(run);
        }
        ASSERT_EQ(Summary(run.findings), first) << "run " << i;
    }
}

// Beside the other checks, with the action that makes the exit status.
TEST_P(BadProgramTest, FailsUnderAllChecks) {
    Program program = GetParam();
    program.settings.insert({"ADVANCE_STEP_SANITIZE_ACTION", "fail"});
    const bool ofHost = program.checks.find("host") != std::string::npos;
    const ProgramRun run = RunOn(program, {}, ofHost ? "all,host" : "all");
    ASSERT_FALSE(run.isLate) << LinesOf(run);
    EXPECT_TRUE(Gives(run.findings, program)) << LinesOf(run);
    EXPECT_FALSE(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0) << LinesOf(run);
}

TEST_P(RightProgramTest, GivesNoFinding) {
    Program program = GetParam();
    program.settings["ADVANCE_STEP_SANITIZE_ACTION"] = "fail";
    const std::vector<support::Settings> machines = Machines(program);
    for (size_t i = 0; i < machines.size(); ++i) {
        const ProgramRun run = RunOn(program, machines[i], "all,host");
        ASSERT_FALSE(run.isLate) << "run " << i << " took too long\n" << LinesOf(run);
        ASSERT_TRUE(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0)
            << "run " << i << ", status " << run.status << "\n"
            << LinesOf(run);
        ASSERT_TRUE(run.findings.empty()) << "run " << i << "\n" << LinesOf(run);
    }
}

INSTANTIATE_TEST_SUITE_P(Corpus, BadProgramTest, testing::ValuesIn(ProgramsThat(true)),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Corpus, RightProgramTest, testing::ValuesIn(ProgramsThat(false)),
                         support::CaseName());

TEST(CorpusTest, IsLarge) {
    EXPECT_GE(ProgramsThat(true).size(), 40U);
    EXPECT_GE(ProgramsThat(false).size(), 40U);
}

}  // namespace
}  // namespace corpus
