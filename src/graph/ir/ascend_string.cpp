// SPDX-License-Identifier: Apache-2.0
// Implements AscendString, the string type of the graph interface.

#include "graph/ascend_string.h"

namespace ge {

AscendString::AscendString(const char* name) : text_(name == nullptr ? "" : name) {}

AscendString::AscendString(const char* name, size_t length)
    : text_(name == nullptr ? "" : std::string(name, length)) {}

const char* AscendString::GetString() const { return text_.c_str(); }

size_t AscendString::GetLength() const { return text_.size(); }

bool AscendString::operator<(const AscendString& other) const { return text_ < other.text_; }
bool AscendString::operator>(const AscendString& other) const { return text_ > other.text_; }
bool AscendString::operator<=(const AscendString& other) const { return text_ <= other.text_; }
bool AscendString::operator>=(const AscendString& other) const { return text_ >= other.text_; }
bool AscendString::operator==(const AscendString& other) const { return text_ == other.text_; }
bool AscendString::operator!=(const AscendString& other) const { return text_ != other.text_; }

}  // namespace ge
