// SPDX-License-Identifier: Apache-2.0
// Implements the process of a row: a fork, a pipe and an end.

#include "tests/benchmark/dashboard/own_process.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bench {
namespace {

[[noreturn]] void Fail(const char* what, const char* why) {
    fmt::print(stderr, "dashboard: {}: {}\n", what, why);
    std::exit(1);
}

[[noreturn]] void Child(const std::function<std::string()>& work, int to) {
    const std::string text = work();
    for (size_t written = 0; written < text.size();) {
        const ssize_t more = write(to, text.data() + written, text.size() - written);
        if (more < 0 && errno != EINTR) {
            std::exit(1);  // the parent is gone
        }
        written += more < 0 ? 0 : static_cast<size_t>(more);
    }
    std::exit(0);
}

std::string ReadAll(int from) {
    std::string text;
    std::array<char, 1 << 16> part;
    for (;;) {
        const ssize_t bytes = read(from, part.data(), part.size());
        if (bytes == 0) {
            return text;
        }
        if (bytes > 0) {
            text.append(part.data(), static_cast<size_t>(bytes));
        } else if (errno != EINTR) {
            Fail("cannot read the result of a row", std::strerror(errno));
        }
    }
}

}  // namespace

std::string InOwnProcess(const std::function<std::string()>& work) {
    int ends[2];
    if (pipe(ends) != 0) {
        Fail("no pipe for a row", std::strerror(errno));
    }
    (void)std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) {
        Fail("no process for a row", std::strerror(errno));
    }
    if (child == 0) {
        close(ends[0]);
        Child(work, ends[1]);
    }
    close(ends[1]);
    std::string text = ReadAll(ends[0]);
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) {
        Fail("the process of a row failed",
             WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "see above");
    }
    return text;
}

}  // namespace bench
