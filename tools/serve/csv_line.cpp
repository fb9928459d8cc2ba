// SPDX-License-Identifier: Apache-2.0
// Divides a line of CSV into fields.

#include "csv_line.h"

#include <algorithm>

namespace serve {

std::string_view Trim(std::string_view text) {
    constexpr const char* kSpaces = " \t";
    const size_t begin = text.find_first_not_of(kSpaces);
    return begin == text.npos ? std::string_view()
                              : text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

CsvLine::CsvLine(std::string_view text) {
    for (size_t begin = 0;; ++begin) {
        const size_t first = std::min(text.find_first_not_of(" \t", begin), text.size());
        size_t end = std::min(text.find(',', begin), text.size());
        if (first < text.size() && text[first] == '"') {
            end = TakeQuoted(text, first + 1);
        } else {
            fields_.push_back(Trim(text.substr(begin, end - begin)));
        }
        if (end >= text.size()) {
            return;
        }
        begin = end;
    }
}

size_t CsvLine::TakeQuoted(std::string_view text, size_t begin) {
    std::string field;
    size_t at = begin;
    for (; at < text.size(); ++at) {
        if (text[at] == '"') {
            if (at + 1 == text.size() || text[at + 1] != '"') {
                break;
            }
            ++at;
        }
        field += text[at];
    }
    valid_ = valid_ && at < text.size();
    const size_t end = std::min(text.find(',', at), text.size());
    valid_ = valid_ && (at == text.size() || Trim(text.substr(at + 1, end - at - 1)).empty());
    unquoted_.push_back(std::move(field));
    fields_.push_back(Trim(unquoted_.back()));
    return end;
}

std::optional<size_t> CsvLine::Find(std::string_view name) const {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    const auto isIt = [&](std::string_view field) {
        return std::equal(field.begin(), field.end(), name.begin(), name.end(),
                          [&](char a, char b) { return lower(a) == lower(b); });
    };
    const auto found = std::find_if(fields_.begin(), fields_.end(), isIt);
    if (found == fields_.end() || std::find_if(found + 1, fields_.end(), isIt) != fields_.end()) {
        return std::nullopt;
    }
    return static_cast<size_t>(found - fields_.begin());
}

}  // namespace serve
