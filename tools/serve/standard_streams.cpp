// SPDX-License-Identifier: Apache-2.0
// Implements the guard of the standard streams, and the messages to them.

#include "standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>

namespace serve {
namespace {

const char* toldProgram = "serve";  // set before there is another thread

}  // namespace

void PrepareStandardStreams(const char* program) {
    toldProgram = program;
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
            // The lowest free number is this one. It is opened the wrong way round.
            const int opened = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
            static_cast<void>(opened);
        }
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void Tell(const std::string& text) noexcept {
    std::fprintf(stderr, "%s: %s\n", toldProgram, text.c_str());
    std::fflush(stderr);
}

void FlushStandardOutput() {
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        throw std::runtime_error(fmt::format("standard output: the table cannot be written: {}",
                                             std::generic_category().message(errno)));
    }
}

}  // namespace serve
