// SPDX-License-Identifier: Apache-2.0
// A process with a pipe as its standard error, and its file of findings.
#include "program_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

namespace corpus {
namespace {

constexpr std::chrono::seconds kLongest(60);

std::vector<std::string> EnvironmentWith(const support::Settings& settings) {
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        if (std::string(*entry).compare(0, 13, "ADVANCE_STEP_") != 0) {
            environment.emplace_back(*entry);
        }
    }
    for (const auto& [name, value] : settings) {
        environment.push_back(name + "=" + value);
    }
    return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

pid_t Start(std::vector<std::string> arguments, std::vector<std::string> environment, int errors) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    pid_t child = -1;
    (void)posix_spawn(&child, "/proc/self/exe", &actions, nullptr, Pointers(arguments).data(),
                      Pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

// Reads until all writers have closed the pipe, or for too long.
bool ReadAll(int pipe, std::string* text) {
    const auto end = std::chrono::steady_clock::now() + kLongest;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        pollfd ready{pipe, POLLIN, 0};
        if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) {
            return false;
        }
        char part[4096];
        const ssize_t count = read(pipe, part, sizeof(part));
        if (count <= 0) {
            return true;
        }
        text->append(part, static_cast<size_t>(count));
    }
}

void ReadFindings(const char* path, ProgramRun* run) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        nlohmann::json finding = nlohmann::json::parse(line, nullptr, false);
        if (finding.is_discarded() || !finding.is_object()) {
            run->unreadable = line;
        } else {
            run->findings.push_back(std::move(finding));
        }
    }
}

}  // namespace

ProgramRun RunChild(const std::string& mode, const std::string& argument,
                    support::Settings settings) {
    const support::TempFile file("");
    settings["ADVANCE_STEP_SANITIZE_FILE"] = file.Path();
    settings.try_emplace("ADVANCE_STEP_SOURCE_LINES", "off");  // a tool's time for each program
    ProgramRun run;
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return run;
    }
    const pid_t child =
        Start({"sanitizer_corpus", mode, argument}, EnvironmentWith(settings), ends[1]);
    close(ends[1]);
    run.isLate = !ReadAll(ends[0], &run.errors);
    close(ends[0]);
    if (child > 0) {
        if (run.isLate) {
            kill(child, SIGKILL);
        }
        waitpid(child, &run.status, 0);
    }
    ReadFindings(file.Path(), &run);
    return run;
}

}  // namespace corpus
