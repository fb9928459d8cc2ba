// SPDX-License-Identifier: Apache-2.0
// Another process of the same test program, in which a test runs functions.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_CHILD_PROCESS_H_
#define ADVANCE_STEP_TESTS_SUPPORT_CHILD_PROCESS_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#include "acl/acl.h"
#include "support/fork.h"

namespace support {

// What goes to the other process and comes back: plain data, with the first code that is not 0.
struct Words {
    int code = 0;
    uint64_t at[8] = {};
    char text[256] = {};

    Words() = default;
    Words(std::initializer_list<uint64_t> values) {
        size_t i = 0;
        for (const uint64_t value : values) {
            at[i++] = value;
        }
    }
    void* Pointer(size_t index) const { return reinterpret_cast<void*>(at[index]); }
    void Set(size_t index, const void* pointer) { at[index] = reinterpret_cast<uint64_t>(pointer); }
};
using Remote = void (*)(Words*);

namespace child_process {

inline constexpr const char* kVariable = "CHILD_PROCESS_OF_TEST";

struct Order {
    int64_t function;  // from Anchor: the program may lie elsewhere in the other process
    Words words;
};

inline void Anchor() {}
inline int64_t DistanceOf(Remote function) {
    return static_cast<int64_t>(reinterpret_cast<intptr_t>(function) -
                                reinterpret_cast<intptr_t>(&Anchor));
}

// In the other process: runs functions until the test closes its end.
inline void Obey(int socket) {
    Order order;
    while (recv(socket, &order, sizeof(order), 0) == static_cast<ssize_t>(sizeof(order))) {
        const auto function = reinterpret_cast<Remote>(reinterpret_cast<intptr_t>(&Anchor) +
                                                       static_cast<intptr_t>(order.function));
        function(&order.words);
        if (send(socket, &order, sizeof(order), MSG_NOSIGNAL) < 0) {
            break;
        }
    }
}

// Before main: a process that a test has started obeys that test, and runs no tests itself.
inline const bool kObeyed = [] {
    const char* const socket = std::getenv(kVariable);
    if (socket != nullptr) {
        Obey(std::atoi(socket));
        std::exit(0);
    }
    return false;
}();

}  // namespace child_process

// Starts with the first function. The end of the object ends the process.
class ChildProcess {
 public:
    enum class Kind {
        kExec,  // a new program, with the same environment
        kFork,  // a copy of this process
    };

    explicit ChildProcess(Kind kind = Kind::kExec) {
        int ends[2] = {-1, -1};
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        const std::string socket = std::to_string(ends[1]);
        setenv(child_process::kVariable, socket.c_str(), 1);
        pid_ = Fork();
        if (pid_ == 0) {
            close(ends[0]);
            if (kind == Kind::kFork) {
                unsetenv(child_process::kVariable);
                child_process::Obey(ends[1]);
                // Without a look for leaks: what belongs to threads of the parent would be one.
                _exit(0);
            }
            // Nothing here allocates: a sanitizer's allocator may be locked in a child.
            (void)fcntl(ends[1], F_SETFD, 0);
            execl("/proc/self/exe", "child", nullptr);
            _exit(127);
        }
        unsetenv(child_process::kVariable);
        close(ends[1]);
        socket_ = ends[0];
    }
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ~ChildProcess() {
        close(socket_);
        if (!reaped_) {
            int status = 0;
            EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
            EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
                << "the other process ended with status " << status;
        }
    }

    pid_t Pid() const { return pid_; }

    // Returns when every thread of the process stands: kill() alone may return before.
    void Stop() const {
        int status = 0;
        EXPECT_EQ(kill(pid_, SIGSTOP), 0);
        EXPECT_EQ(waitpid(pid_, &status, WUNTRACED), pid_);
        EXPECT_TRUE(WIFSTOPPED(status)) << "the other process has status " << status;
    }

    // Runs the function, which captures nothing, there. Start and Result are its two halves.
    Words Run(Remote function, const Words& words = {}) {
        Start(function, words);
        return Result();
    }
    void Start(Remote function, const Words& words = {}) {
        const child_process::Order order{child_process::DistanceOf(function), words};
        EXPECT_EQ(send(socket_, &order, sizeof(order), MSG_NOSIGNAL),
                  static_cast<ssize_t>(sizeof(order)));
    }
    Words Result() {
        child_process::Order order{};
        order.words.code = -1;
        EXPECT_EQ(recv(socket_, &order, sizeof(order), 0), static_cast<ssize_t>(sizeof(order)));
        return order.words;
    }

    void Kill() {
        EXPECT_EQ(kill(pid_, SIGKILL), 0);
        int status = 0;
        EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
        reaped_ = true;
    }

 private:
    pid_t pid_ = -1;
    int socket_ = -1;
    bool reaped_ = false;
};

// Runs the library's call and keeps the first code that is not 0, and its message.
inline bool Keep(Words* words, int code) {
    if (code != 0 && words->code == 0) {
        words->code = code;
        const char* const message = aclGetRecentErrMsg();
        std::strncpy(words->text, message != nullptr ? message : "", sizeof(words->text) - 1);
    }
    return words->code == 0;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_CHILD_PROCESS_H_
