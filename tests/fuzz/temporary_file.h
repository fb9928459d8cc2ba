// SPDX-License-Identifier: Apache-2.0
// A file with the input in it, for functions that take a path.

#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

class TemporaryFile {
 public:
    explicit TemporaryFile(const std::string& name)
        : path_("/tmp/advance_step_" + name + "_" + std::to_string(getpid())) {}
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { std::remove(path_.c_str()); }

    const std::string& Path() const { return path_; }
    void Write(const void* bytes, size_t size) const {
        std::FILE* const file = std::fopen(path_.c_str(), "wb");
        if (file == nullptr || (size > 0 && std::fwrite(bytes, 1, size, file) != size) ||
            std::fclose(file) != 0) {
            std::abort();
        }
    }

 private:
    std::string path_;
};
