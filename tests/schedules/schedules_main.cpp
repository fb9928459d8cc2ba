// SPDX-License-Identifier: Apache-2.0
// Runs the scenarios: every schedule with few preemptions, then random ones; or one again.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "tests/schedules/choosers.h"
#include "tests/schedules/scenario.h"

namespace {

using schedules::Scenario;
using Clock = std::chrono::steady_clock;

constexpr int kMostPreemptions = 6;
constexpr int kLearningSchedules = 200;

struct Options {
    double seconds = 60;
    uint64_t seed = 0;
    std::string scenario;
    std::optional<uint64_t> only;  // the one schedule of this seed
    std::optional<std::string> choices;
    bool trace = false;
    bool stop = false;  // at the first scenario that fails
};

[[noreturn]] void Usage() {
    std::fputs(
        "schedules [--seconds N] [--seed N] [--scenario NAME] [--stop]\n"
        "    takes schedules of all scenarios, or of one, for N seconds in all; --stop ends at "
        "the\n"
        "    first scenario that fails\n"
        "schedules --scenario NAME --again N [--trace]\n"
        "    repeats the random schedule of seed N\n"
        "schedules --scenario NAME --choices LIST [--trace]\n"
        "    repeats a schedule by the choices that a failure prints\n",
        stderr);
    std::exit(2);
}

Options Parse(int argc, char** argv) {
    Options options;
    options.seed = static_cast<uint64_t>(Clock::now().time_since_epoch().count()) % 1'000'000'000;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--trace" || name == "--stop") {
            (name == "--trace" ? options.trace : options.stop) = true;
            continue;
        }
        if (i + 1 == argc) {
            Usage();
        }
        const char* const value = argv[++i];
        if (name == "--seconds") {
            options.seconds = std::strtod(value, nullptr);
        } else if (name == "--seed") {
            options.seed = std::strtoull(value, nullptr, 10);
        } else if (name == "--scenario") {
            options.scenario = value;
        } else if (name == "--again") {
            options.only = std::strtoull(value, nullptr, 10);
        } else if (name == "--choices") {
            options.choices = value;
        } else {
            Usage();
        }
    }
    if ((options.only || options.choices) && options.scenario.empty()) {
        Usage();
    }
    return options;
}

std::vector<std::pair<uint64_t, size_t>> ParseChoices(const std::string& text) {
    std::vector<std::pair<uint64_t, size_t>> choices;
    for (const char* next = text.c_str(); *next >= '0' && *next <= '9';) {
        char* end = nullptr;
        const uint64_t choice = std::strtoull(next, &end, 10);
        if (*end != ':') {
            Usage();
        }
        choices.emplace_back(choice, std::strtoull(end + 1, &end, 10));
        next = *end == ',' ? end + 1 : end;
    }
    return choices;
}

// The library learns sizes in its first schedules, and here it is learnt which objects are shared.
// The seeds are fixed, so that schedules are repeated after the same ones.
uint64_t WarmUp(const Scenario& scenario) {
    uint64_t most = 0;
    schedules::LearnShared(true);
    for (int i = 0; i < kLearningSchedules; ++i) {
        schedules::TheSettings().again =
            "--scenario " + std::string(scenario.name) + " --again " + std::to_string(i);
        schedules::RandomChooser chooser(static_cast<uint64_t>(i), most);
        schedules::RunSchedule(&chooser, scenario.run);
        most = std::max(most, schedules::ChoicesMade());
    }
    schedules::LearnShared(false);
    return most;
}

void Repeat(const Scenario& scenario, const Options& options) {
    const uint64_t most = WarmUp(scenario);
    schedules::TheSettings().trace = options.trace;
    if (options.only) {
        schedules::TheSettings().again =
            "--scenario " + options.scenario + " --again " + std::to_string(*options.only);
        schedules::RandomChooser chooser(*options.only, most);
        schedules::RunSchedule(&chooser, scenario.run);
    } else {
        schedules::TheSettings().again = "the same";
        for (const bool reduces : {true, false}) {
            schedules::FixedChooser chooser(ParseChoices(*options.choices), reduces);
            schedules::RunSchedule(&chooser, scenario.run);
        }
    }
    std::printf("%s: passed\n", scenario.name);
}

void Explore(const Scenario& scenario, const Options& options, double seconds) {
    const auto begin = Clock::now();
    const auto until = [&](double share) {
        return begin + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(seconds * share));
    };
    const uint64_t most = WarmUp(scenario);
    uint64_t every = 0;
    uint64_t diverged = 0;
    int done = -1;  // all schedules with at most so many preemptions
    bool inTime = true;
    for (int bound = 0; bound <= kMostPreemptions && inTime; ++bound) {
        schedules::EveryChooser chooser(bound);
        schedules::TheSettings().again =
            "one of all schedules with " + std::to_string(bound) + " preemptions";
        uint64_t count = 0;
        bool ended = false;
        for (;;) {
            ended = !chooser.Next();
            inTime = Clock::now() < until(scenario.size == schedules::kSmall ? 0.8 : 0.3);
            if (ended || !inTime) {
                break;
            }
            schedules::RunSchedule(&chooser, scenario.run);
            ++count;
        }
        diverged += chooser.diverged();
        every += count;
        done = ended ? bound : done;
    }
    uint64_t fewest = 0;
    {
        schedules::FixedChooser chooser({}, true);
        schedules::RunSchedule(&chooser, scenario.run);
        fewest = schedules::ChoicesMade();
    }
    uint64_t random = 0;
    do {
        const uint64_t seed = options.seed * 1'000'000 + random;
        schedules::TheSettings().again =
            "--scenario " + std::string(scenario.name) + " --again " + std::to_string(seed);
        schedules::RandomChooser chooser(seed, most);
        schedules::RunSchedule(&chooser, scenario.run);
        ++random;
    } while (Clock::now() < until(1));
    std::printf("%-28s %6llu choices, %9llu schedules: all with %d preemptions%s, %llu random\n",
                scenario.name, static_cast<unsigned long long>(fewest),
                static_cast<unsigned long long>(every + random), done,
                done < kMostPreemptions ? " and some more" : "",
                static_cast<unsigned long long>(random));
    if (diverged > 0) {
        std::printf("%-28s %6llu of them began otherwise than before\n", "",
                    static_cast<unsigned long long>(diverged));
    }
    std::fflush(stdout);
}

// A scenario has a process of its own: a failure ends it.
bool RunInChild(const Scenario& scenario, const Options& options, double seconds) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (options.only || options.choices) {
            Repeat(scenario, options);
        } else {
            Explore(scenario, options, seconds);
        }
        std::fflush(stdout);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        std::perror("fork");
        return false;
    }
    if (WIFSIGNALED(status)) {
        std::fprintf(stderr, "FAILED by signal %d\n", WTERMSIG(status));
    }
    if (status != 0) {
        std::fprintf(stderr, "%s has failed\n", scenario.name);
    }
    return status == 0;
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = Parse(argc, argv);
    setenv("ADVANCE_STEP_LOG", "off", 1);
    setenv("ADVANCE_STEP_THREADS", "2", 1);
    std::vector<Scenario> scenarios;
    for (const Scenario& scenario : schedules::Scenarios()) {
        if (options.scenario.empty() || options.scenario == scenario.name) {
            scenarios.push_back(scenario);
        }
    }
    if (scenarios.empty()) {
        std::fprintf(stderr, "there is no scenario %s\n", options.scenario.c_str());
        return 2;
    }
    std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
    int failed = 0;
    for (const Scenario& scenario : scenarios) {
        const double seconds = options.seconds / static_cast<double>(scenarios.size());
        failed += RunInChild(scenario, options, seconds) ? 0 : 1;
        if (failed > 0 && options.stop) {
            break;
        }
    }
    if (failed > 0) {
        std::fprintf(stderr, "%d of %zu scenarios have failed\n", failed, scenarios.size());
    }
    return failed > 0 ? 1 : 0;
}
