// SPDX-License-Identifier: Apache-2.0
// Implements the reading of plain and compressed files, and their division into lines.

#include "line_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "interrupt.h"
#include "request_trace.h"

#ifdef SERVE_HAS_ZLIB
#include <zlib.h>
#endif
#ifdef SERVE_HAS_ZSTD
#include <zstd.h>
#endif

namespace serve {
namespace {

class PlainFile : public ByteSource {
 public:
    /// Opens the file without waiting: a pipe may have no writer yet.
    explicit PlainFile(const std::string& path)
        : path_(path == kStandardInput ? "standard input" : path),
          file_(path == kStandardInput ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                       : open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
        if (file_ < 0) {
            throw TraceError(fmt::format("{}: cannot be opened: {}", path_, LastError()));
        }
    }
    ~PlainFile() override {
        if (file_ >= 0) {
            close(file_);
        }
    }
    PlainFile(PlainFile&& other) noexcept
        : path_(std::move(other.path_)),
          file_(std::exchange(other.file_, -1)),
          first_(std::move(other.first_)) {}
    PlainFile& operator=(PlainFile&&) = delete;

    size_t Read(char* buffer, size_t size) override {
        if (!first_.empty()) {
            const size_t count = std::min(size, first_.size());
            std::copy_n(first_.begin(), count, buffer);
            first_.erase(0, count);
            return count;
        }
        return ReadOn(buffer, size);
    }
    /// The first bytes, fewer in a shorter file. They stay to be read.
    const std::string& First(size_t size) {
        std::array<char, 16> bytes{};
        while (first_.size() < size) {
            const size_t count = ReadOn(bytes.data(), size - first_.size());
            if (count == 0) {
                break;
            }
            first_.append(bytes.data(), count);
        }
        return first_;
    }
    [[noreturn]] void Fail(const char* why) const {
        throw TraceError(fmt::format("{}: cannot be decompressed: {}", path_, why));
    }

 private:
    // Waits for what a pipe is given, and looks up: a signal must not wait for a writer.
    size_t ReadOn(char* buffer, size_t size) {
        constexpr int kMilliseconds = 100;
        for (;;) {
            ThrowIfInterrupted();
            pollfd ready = {file_, POLLIN, 0};
            if (poll(&ready, 1, kMilliseconds) <= 0) {
                continue;
            }
            const ssize_t count = read(file_, buffer, size);
            if (count >= 0) {
                return static_cast<size_t>(count);
            }
            if (errno != EINTR && errno != EAGAIN) {
                throw TraceError(fmt::format("{}: cannot be read: {}", path_, LastError()));
            }
        }
    }
    static std::string LastError() { return std::generic_category().message(errno); }

    std::string path_;
    int file_;
    std::string first_;
};

constexpr size_t kPackedBytes = size_t{1} << 17;  // read at a time

#ifdef SERVE_HAS_ZLIB
class GzipFile : public ByteSource {
 public:
    explicit GzipFile(PlainFile file) : plain_(std::move(file)), input_(kPackedBytes) {
        constexpr int kGzip = 16;
        if (inflateInit2(&stream_, kGzip + MAX_WBITS) != Z_OK) {
            throw std::bad_alloc();
        }
    }
    ~GzipFile() override { inflateEnd(&stream_); }
    GzipFile(const GzipFile&) = delete;
    GzipFile& operator=(const GzipFile&) = delete;

    size_t Read(char* buffer, size_t size) override {
        stream_.next_out = reinterpret_cast<Bytef*>(buffer);
        stream_.avail_out = static_cast<uInt>(size);
        while (stream_.avail_out == size) {
            if (stream_.avail_in == 0) {
                stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
                stream_.avail_in = static_cast<uInt>(plain_.Read(input_.data(), input_.size()));
            }
            if (stream_.avail_in == 0) {
                if (inMember_) {
                    plain_.Fail("gzip data ends early");
                }
                return 0;
            }
            if (!inMember_ && !isFirst_ && *stream_.next_in == 0) {
                ++stream_.next_in;  // a tape or an archive fills its last block
                --stream_.avail_in;
                continue;
            }
            if (!inMember_ && !isFirst_ && *stream_.next_in != 0x1f) {
                plain_.Fail(kNoMember);
            }
            inMember_ = true;
            const int code = inflate(&stream_, Z_NO_FLUSH);
            if (code == Z_STREAM_END) {
                inMember_ = isFirst_ = false;  // another one may follow
                inflateReset(&stream_);
            } else if (code != Z_OK) {
                plain_.Fail(isFirst_ || stream_.total_out > 0 ? "gzip data is damaged" : kNoMember);
            }
        }
        return size - stream_.avail_out;
    }

 private:
    static constexpr const char* kNoMember =
        "what follows its gzip data is neither gzip data nor zeros";

    PlainFile plain_;
    std::vector<char> input_;
    z_stream stream_ = {};
    bool inMember_ = false;
    bool isFirst_ = true;
};
#endif

#ifdef SERVE_HAS_ZSTD
class ZstdFile : public ByteSource {
 public:
    explicit ZstdFile(PlainFile file)
        : plain_(std::move(file)), stream_(ZSTD_createDStream()), input_(kPackedBytes) {
        if (stream_ == nullptr) {
            throw std::bad_alloc();
        }
    }
    ~ZstdFile() override { ZSTD_freeDStream(stream_); }
    ZstdFile(const ZstdFile&) = delete;
    ZstdFile& operator=(const ZstdFile&) = delete;

    size_t Read(char* buffer, size_t size) override {
        ZSTD_outBuffer out{buffer, size, 0};
        while (out.pos == 0) {
            if (in_.pos == in_.size) {
                in_ = {input_.data(), plain_.Read(input_.data(), input_.size()), 0};
            }
            if (in_.size == 0) {
                if (inFrame_) {
                    plain_.Fail("zstd data ends early");
                }
                return 0;
            }
            const size_t code = ZSTD_decompressStream(stream_, &out, &in_);
            if (ZSTD_isError(code) != 0) {
                plain_.Fail(ZSTD_getErrorName(code));
            }
            inFrame_ = code != 0;
        }
        return out.pos;
    }

 private:
    PlainFile plain_;
    ZSTD_DStream* stream_;
    std::vector<char> input_;
    ZSTD_inBuffer in_{nullptr, 0, 0};
    bool inFrame_ = false;
};
#endif

}  // namespace

std::unique_ptr<ByteSource> OpenBytes(const std::string& path) {
    PlainFile plain(path);
    const std::string first = plain.First(4);
    if (first.compare(0, 2, "\x1f\x8b") == 0) {
#ifdef SERVE_HAS_ZLIB
        return std::make_unique<GzipFile>(std::move(plain));
#else
        throw TraceError(
            fmt::format("{}: is compressed by gzip; serve was built without zlib", path));
#endif
    }
    // A frame, or one to skip, with which some programs begin: 0x184D2A50 to 5F.
    const bool skips =
        first.size() == 4 && (first[0] & 0xF0) == 0x50 && first.compare(1, 3, "\x2a\x4d\x18") == 0;
    if (first == "\x28\xb5\x2f\xfd" || skips) {
#ifdef SERVE_HAS_ZSTD
        return std::make_unique<ZstdFile>(std::move(plain));
#else
        throw TraceError(
            fmt::format("{}: is compressed by zstd; serve was built without libzstd", path));
#endif
    }
    return std::make_unique<PlainFile>(std::move(plain));
}

LineReader::LineReader(const std::string& path)
    : path_(path == kStandardInput ? "standard input" : path),
      bytes_(OpenBytes(path)),
      buffer_(size_t{1} << 18) {}

// Reads on behind what is there; returns whether there was more.
bool LineReader::Refill() {
    constexpr size_t kLongestLine = size_t{1} << 24;
    ThrowIfInterrupted();
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
    if (end_ == buffer_.size()) {
        if (end_ >= kLongestLine) {
            throw TraceError(fmt::format("{}:{}: line is longer than {} bytes", path_, number_ + 1,
                                         kLongestLine));
        }
        buffer_.resize(2 * end_);
    }
    const size_t count = bytes_->Read(buffer_.data() + end_, buffer_.size() - end_);
    end_ += count;
    return count > 0;
}

bool LineReader::Next(std::string_view* line) {
    size_t searched = 0;  // bytes from begin_ on without a line's end
    for (;;) {
        const void* found =
            std::memchr(buffer_.data() + begin_ + searched, '\n', end_ - begin_ - searched);
        size_t size = end_ - begin_;
        size_t skipped = 0;
        if (found != nullptr) {
            size = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data()) - begin_;
            skipped = 1;
        } else {
            searched = size;
            if (Refill()) {
                continue;
            }
            if (size == 0) {
                return false;
            }
        }
        *line = std::string_view(buffer_.data() + begin_, size);
        begin_ += size + skipped;
        ++number_;
        constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
        if (number_ == 1 && line->substr(0, kByteOrderMark.size()) == kByteOrderMark) {
            line->remove_prefix(kByteOrderMark.size());
        }
        if (!line->empty() && line->back() == '\r') {
            line->remove_suffix(1);
        }
        return true;
    }
}

}  // namespace serve
