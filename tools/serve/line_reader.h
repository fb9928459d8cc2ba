// SPDX-License-Identifier: Apache-2.0
// The lines of a text file, plain or compressed by gzip or zstd; the first bytes tell which.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace serve {

/// Stands for standard input where a path is expected.
inline constexpr char kStandardInput[] = "-";

/// The bytes of a file, decompressed.
class ByteSource {
 public:
    virtual ~ByteSource() = default;

    /// Fills the buffer as far as there is something; 0: the file has ended.
    /// @throws TraceError
    virtual size_t Read(char* buffer, size_t size) = 0;
};

/// @throws TraceError  the file cannot be opened, or is compressed in a way that was not built in
std::unique_ptr<ByteSource> OpenBytes(const std::string& path);

class LineReader {
 public:
    /// @throws TraceError
    explicit LineReader(const std::string& path);

    /// The next line, without its LF or CRLF, the first one without a byte order mark; valid until
    /// the next call.
    /// @return  whether there is one
    /// @throws TraceError, InterruptedEarly
    bool Next(std::string_view* line);
    /// Of the last line, 1-based.
    int64_t Number() const { return number_; }

 private:
    bool Refill();

    std::string path_;
    std::unique_ptr<ByteSource> bytes_;
    std::vector<char> buffer_;
    size_t begin_ = 0;  // of what has been read and not yet handed out
    size_t end_ = 0;
    int64_t number_ = 0;
};

}  // namespace serve
