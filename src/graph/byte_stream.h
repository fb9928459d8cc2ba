// SPDX-License-Identifier: Apache-2.0
// Values as bytes and back: the parts of a graph file.

#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace advstep::graph {

/// Appends values in little-endian order, whatever the host's order is.
class ByteWriter {
 public:
    void Number(uint64_t value) {
        for (int byte = 0; byte < 8; ++byte) {
            bytes_.push_back(static_cast<char>(value >> (8 * byte)));
        }
    }
    void Text(std::string_view text) {
        Number(text.size());
        bytes_.append(text);
    }
    const std::string& bytes() const { return bytes_; }

 private:
    std::string bytes_;
};

/// Reads the values that a ByteWriter wrote. The first value that is missing, and every later one,
/// is 0 or empty, and ok() is false then. So a damaged file causes no large allocation and no
/// endless loop.
class ByteReader {
 public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

    bool ok() const { return ok_; }
    bool AtEnd() const { return ok_ && rest_.empty(); }
    void Refuse() {
        ok_ = false;
        rest_ = {};
    }

    uint64_t Number() {
        if (rest_.size() < 8) {
            Refuse();
            return 0;
        }
        uint64_t value = 0;
        for (size_t byte = 0; byte < 8; ++byte) {
            value |= static_cast<uint64_t>(static_cast<unsigned char>(rest_[byte])) << (8 * byte);
        }
        rest_.remove_prefix(8);
        return value;
    }
    /// Reads a number below the limit.
    uint64_t Below(uint64_t limit) {
        const uint64_t value = Number();
        if (value >= limit) {
            Refuse();
            return 0;
        }
        return value;
    }
    /// Reads how many items follow. Each item has at least one byte.
    uint64_t Count() { return Below(rest_.size() + 1); }
    std::string_view Text() {
        const uint64_t size = Count();
        if (size > rest_.size()) {
            Refuse();
            return {};
        }
        const std::string_view text = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return text;
    }

 private:
    std::string_view rest_;
    bool ok_ = true;
};

}  // namespace advstep::graph
