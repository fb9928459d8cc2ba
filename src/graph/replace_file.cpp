// SPDX-License-Identifier: Apache-2.0
// Writes a file by way of a neighbour.

#include "src/graph/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "src/graph/messages.h"

namespace advstep::graph {
namespace {

constexpr size_t kMostOfName = 200;  // bytes of a file name that the neighbour's has too

bool WriteAll(int file, const std::string& bytes) {
    for (size_t written = 0; written < bytes.size();) {
        const ssize_t count = write(file, bytes.data() + written, bytes.size() - written);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        written += count < 0 ? 0 : static_cast<size_t>(count);
    }
    return true;
}

}  // namespace

Outcome CheckFile(const char* file) {
    if (file == nullptr || *file == '\0') {
        return Fail(kInnerError, "file is null or empty; expected a path");
    }
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        return Fail(kInnerError, "{} is no regular file", file);
    }
    return {};
}

Outcome ReplaceFile(const std::string& path, const std::string& bytes) {
    static std::atomic<uint64_t> count{0};
    // The file name is cut, since the longest leaves no room for more.
    const std::string begin = path.substr(0, path.rfind('/') + 1 + kMostOfName);
    std::string part;
    int file = -1;
    do {  // a process of the same number, now or before, may have some of the names
        part = fmt::format("{}.{}.{}.part", begin, getpid(), count.fetch_add(1));
        file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file < 0 && errno == EEXIST);
    if (file < 0) {
        return Fail(kInnerError, "{} cannot be written: {}", path,
                    std::generic_category().message(errno));
    }
    int error = WriteAll(file, bytes) ? 0 : errno;
    if (close(file) != 0 && error == 0) {
        error = errno;
    }
    if (error == 0 && std::rename(part.c_str(), path.c_str()) != 0) {
        error = errno;
    }
    if (error != 0) {
        unlink(part.c_str());
        return Fail(kInnerError, "{} cannot be written: {}", path,
                    std::generic_category().message(error));
    }
    return {};
}

}  // namespace advstep::graph
