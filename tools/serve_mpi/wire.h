// SPDX-License-Identifier: Apache-2.0
// Values and arrays of plain types as bytes, in the order in which they are put.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace serve {

using Bytes = std::vector<char>;

/// All ranks run the same program on machines of the same kind, so bytes are sent as they are.
class Packer {
 public:
    template <typename T>
    Packer& Put(const T& value) {
        return Append(&value, 1);
    }
    template <typename T>
    Packer& Put(const std::vector<T>& values) {
        const auto size = static_cast<uint64_t>(values.size());
        return Append(&size, 1).Append(values.data(), values.size());
    }
    Bytes Take() { return std::move(bytes_); }

 private:
    template <typename T>
    Packer& Append(const T* values, size_t count) {
        static_assert(std::is_trivially_copyable_v<T>);
        const auto* first = reinterpret_cast<const char*>(values);
        bytes_.insert(bytes_.end(), first, first + count * sizeof(T));
        return *this;
    }

    Bytes bytes_;
};

class Unpacker {
 public:
    explicit Unpacker(const Bytes& bytes) : bytes_(bytes) {}

    /// @throws std::length_error  the message ends before
    template <typename T>
    T Get() {
        T value;
        Copy(&value, 1);
        return value;
    }
    template <typename T>
    std::vector<T> GetVector() {
        const auto size = Get<uint64_t>();
        if (size > (bytes_.size() - at_) / sizeof(T)) {
            throw std::length_error("a message is shorter than it says");
        }
        std::vector<T> values(static_cast<size_t>(size));
        Copy(values.data(), values.size());
        return values;
    }

 private:
    template <typename T>
    void Copy(T* values, size_t count) {
        static_assert(std::is_trivially_copyable_v<T>);
        if (count * sizeof(T) > bytes_.size() - at_) {
            throw std::length_error("a message is shorter than it says");
        }
        if (count > 0) {
            std::memcpy(values, bytes_.data() + at_, count * sizeof(T));
        }
        at_ += count * sizeof(T);
    }

    const Bytes& bytes_;
    size_t at_ = 0;
};

}  // namespace serve
