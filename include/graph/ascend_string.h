// SPDX-License-Identifier: Apache-2.0
/// The string of graph mode.
#ifndef ADVSTEP_GRAPH_ASCEND_STRING_H_
#define ADVSTEP_GRAPH_ASCEND_STRING_H_

#include <cstddef>
#include <memory>
#include <string>

#include "types.h"

namespace ge {

/// A string of bytes. It compares like std::string, so it can be a key of std::map. Objects have
/// CANN's layout: programs that were compiled against its header may pass theirs.
class ADVSTEP_GRAPH_API AscendString {
 public:
    AscendString() = default;
    /// Converts a C string implicitly. A null name gives an empty string.
    AscendString(const char* name);
    /// Takes the first length bytes, which may contain zero bytes.
    AscendString(const char* name, size_t length);

    /// Returns the bytes with a zero byte at the end; the result is never null. It is valid until
    /// the string changes or is destroyed.
    const char* GetString() const;
    size_t GetLength() const;

    bool operator<(const AscendString& other) const;
    bool operator>(const AscendString& other) const;
    bool operator<=(const AscendString& other) const;
    bool operator>=(const AscendString& other) const;
    bool operator==(const AscendString& other) const;
    bool operator!=(const AscendString& other) const;

 private:
    std::shared_ptr<const std::string> text_; /* never changes; null: no bytes */
};

}  // namespace ge

#endif  // ADVSTEP_GRAPH_ASCEND_STRING_H_
