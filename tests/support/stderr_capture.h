// SPDX-License-Identifier: Apache-2.0
// The standard error of the process during a scope.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_STDERR_CAPTURE_H_
#define ADVANCE_STEP_TESTS_SUPPORT_STDERR_CAPTURE_H_

#include <unistd.h>

#include <cstdio>
#include <string>

namespace support {

class StderrCapture {
 public:
    StderrCapture() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
        std::fflush(stderr);
        dup2(fileno(file_), STDERR_FILENO);
    }
    StderrCapture(const StderrCapture&) = delete;
    StderrCapture& operator=(const StderrCapture&) = delete;
    ~StderrCapture() {
        std::fflush(stderr);
        dup2(before_, STDERR_FILENO);
        close(before_);
        std::fclose(file_);
    }
    // So far.
    std::string Text() const {
        std::fflush(stderr);
        std::string text(static_cast<size_t>(lseek(fileno(file_), 0, SEEK_END)), '\0');
        const ssize_t size = pread(fileno(file_), text.data(), text.size(), 0);
        text.resize(size < 0 ? 0 : static_cast<size_t>(size));
        return text;
    }

 private:
    std::FILE* file_;
    int before_;
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_STDERR_CAPTURE_H_
