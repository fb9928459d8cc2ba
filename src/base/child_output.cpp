// SPDX-License-Identifier: Apache-2.0
// Starts a tool with a pipe as its output, and ends it if it takes too long.

#include "src/base/child_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

#include "src/base/high_descriptor.h"

namespace advstep {
namespace {

std::vector<char*> ToolArguments(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (const std::string& text : texts) {
        pointers.push_back(const_cast<char*>(text.c_str()));
    }
    pointers.push_back(nullptr);
    return pointers;
}

// A pipe whose ends are above 2 and do not pass to other programs; -1: it could not be opened.
struct ToolPipe {
    int ends[2] = {-1, -1};

    ToolPipe() {
        const StandardNumbersTaken taken;
        if (pipe2(ends, O_CLOEXEC) == 0) {
            ends[0] = StandardNumbersTaken::Raise(ends[0]);
            ends[1] = StandardNumbersTaken::Raise(ends[1]);
        }
    }
    ToolPipe(const ToolPipe&) = delete;
    ToolPipe& operator=(const ToolPipe&) = delete;
    ~ToolPipe() {
        Close(0);
        Close(1);
    }

    bool IsOpen() const { return ends[0] >= 0 && ends[1] >= 0; }
    void Close(size_t end) {
        if (ends[end] >= 0) {
            (void)close(ends[end]);
            ends[end] = -1;
        }
    }
};

// Returns the process, or -1.
pid_t StartTool(const std::vector<std::string>& arguments, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return -1;
    }
    if (posix_spawnattr_init(&attributes) != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return -1;
    }
    sigset_t none;
    (void)sigemptyset(&none);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    bool ready = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) == 0;
    for (const int standard : {STDIN_FILENO, STDERR_FILENO}) {
        ready = ready &&
                posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0) == 0;
    }
#if __GLIBC_PREREQ(2, 34)
    ready = ready && posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1) == 0;
#endif
    const std::vector<std::string> variables = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"};
    pid_t child = -1;
    if (!ready ||
        posix_spawn(&child, arguments[0].c_str(), &actions, &attributes,
                    ToolArguments(arguments).data(), ToolArguments(variables).data()) != 0) {
        child = -1;
    }
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return child;
}

bool AppendPart(const char* part, size_t bytes, std::string* output) noexcept {
    try {
        output->append(part, bytes);
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

// Returns whether the end of the output was reached before the time.
bool ReadToTheEnd(int input, std::chrono::steady_clock::time_point end, std::string* output) {
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        if (left.count() <= 0) {
            return false;
        }
        pollfd ready{input, POLLIN, 0};
        const int found = poll(&ready, 1, static_cast<int>(left.count()));
        if (found < 0 && errno != EINTR) {
            return false;
        }
        if (found <= 0) {
            continue;
        }
        char part[4096];
        const ssize_t count = read(input, part, sizeof(part));
        if (count == 0) {
            return true;
        }
        const bool interrupted = count < 0 && errno == EINTR;
        if (!interrupted && (count < 0 || !AppendPart(part, static_cast<size_t>(count), output))) {
            return false;
        }
    }
}

// Ends and reaps the child, unless the program has reaped it with one of its own.
void EndTool(pid_t child) {
    if (waitpid(child, nullptr, WNOHANG) != 0) {
        return;
    }
    (void)kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace

bool ReadOutputOf(const std::vector<std::string>& arguments,
                  std::chrono::steady_clock::time_point end, std::string* output) {
    const int error = errno;
    ToolPipe pipe;
    const pid_t child = pipe.IsOpen() ? StartTool(arguments, pipe.ends[1]) : -1;
    pipe.Close(1);
    const bool complete = child > 0 && ReadToTheEnd(pipe.ends[0], end, output);
    if (child > 0) {
        EndTool(child);
    }
    errno = error;
    return complete;
}

}  // namespace advstep
