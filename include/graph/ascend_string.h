/// The string of graph mode.
#ifndef ADVSTEP_GRAPH_ASCEND_STRING_H_
#define ADVSTEP_GRAPH_ASCEND_STRING_H_

#include <cstddef>
#include <string>

#include "types.h"

namespace ge {

/// A value of bytes; orders like std::string, so that it can be a key of std::map.
class ADVSTEP_GRAPH_API AscendString {
 public:
    AscendString() = default;
    /// Implicit. A null name is an empty string.
    AscendString(const char* name);
    /// The first length bytes; may contain zero bytes.
    AscendString(const char* name, size_t length);

    /// Ends with a zero byte and is never null; valid until the string changes or goes.
    const char* GetString() const;
    size_t GetLength() const;

    bool operator<(const AscendString& other) const;
    bool operator>(const AscendString& other) const;
    bool operator<=(const AscendString& other) const;
    bool operator>=(const AscendString& other) const;
    bool operator==(const AscendString& other) const;
    bool operator!=(const AscendString& other) const;

 private:
    std::string text_;
};

}  // namespace ge

#endif  // ADVSTEP_GRAPH_ASCEND_STRING_H_
