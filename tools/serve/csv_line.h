// SPDX-License-Identifier: Apache-2.0
// A line of CSV as its fields, quoted ones included, and the columns that a header names.

#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace serve {

/// Fields are separated by commas and have no spaces around them. One in quotation marks may have
/// commas, spaces, and quotation marks that are written twice; no field has a line's end.
class CsvLine {
 public:
    /// text must outlive the object.
    explicit CsvLine(std::string_view text);
    CsvLine(CsvLine&&) = default;  // the fields stay where they are
    CsvLine& operator=(CsvLine&&) = default;

    /// Whether every quotation mark that opens a field is closed at the field's end.
    bool Valid() const { return valid_; }
    size_t Size() const { return fields_.size(); }
    std::string_view operator[](size_t index) const { return fields_[index]; }
    /// The column of a name, in whatever case; nothing: no column has it, or several have.
    std::optional<size_t> Find(std::string_view name) const;

 private:
    /// Returns the index behind the field.
    size_t TakeQuoted(std::string_view text, size_t begin);

    std::vector<std::string_view> fields_;
    std::deque<std::string> unquoted_;  // where a field is not as it stands in the text
    bool valid_ = true;
};

/// Without spaces and tabs at both ends.
std::string_view Trim(std::string_view text);

}  // namespace serve
