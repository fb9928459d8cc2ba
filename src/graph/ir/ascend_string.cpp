// SPDX-License-Identifier: Apache-2.0
// Implements AscendString, the string type of the graph interface.

#include "graph/ascend_string.h"

#include <string_view>
#include <utility>

namespace ge {

namespace {

std::string_view View(const AscendString& text) { return {text.GetString(), text.GetLength()}; }

std::shared_ptr<const std::string> Keep(std::string text) {
    return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

// CANN's size, which a program compiled against its header reserves.
static_assert(sizeof(AscendString) == 16, "CANN's ge::AscendString has one shared_ptr");

AscendString::AscendString(const char* name) : text_(name == nullptr ? nullptr : Keep(name)) {}

AscendString::AscendString(const char* name, size_t length)
    : text_(name == nullptr ? nullptr : Keep(std::string(name, length))) {}

const char* AscendString::GetString() const { return text_ == nullptr ? "" : text_->c_str(); }

size_t AscendString::GetLength() const { return text_ == nullptr ? 0 : text_->size(); }

bool AscendString::operator<(const AscendString& other) const { return View(*this) < View(other); }
bool AscendString::operator>(const AscendString& other) const { return View(*this) > View(other); }
bool AscendString::operator<=(const AscendString& other) const {
    return View(*this) <= View(other);
}
bool AscendString::operator>=(const AscendString& other) const {
    return View(*this) >= View(other);
}
bool AscendString::operator==(const AscendString& other) const {
    return View(*this) == View(other);
}
bool AscendString::operator!=(const AscendString& other) const {
    return View(*this) != View(other);
}

}  // namespace ge
