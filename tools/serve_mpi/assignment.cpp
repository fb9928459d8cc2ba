// SPDX-License-Identifier: Apache-2.0
// Writes and reads assignment files, and selects the requests of a replica.

#include "assignment.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <string_view>
#include <unordered_map>

namespace serve {
namespace {

constexpr const char* kHeader = "line,replica";

// A whole number that is all of the text.
bool Parse(std::string_view text, int64_t* value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string AssignmentText(const std::vector<Request>& requests, const Assignment& assignment) {
    std::string text = fmt::format("{}\n", kHeader);
    for (size_t i = 0; i < requests.size(); ++i) {
        text += fmt::format("{},{}\n", requests[i].line, assignment.at(i));
    }
    return text;
}

Assignment ReadAssignment(std::istream& file, const std::string& path,
                          const std::vector<Request>& requests, int64_t replicas) {
    std::unordered_map<int64_t, size_t> places;  // of a line of the trace
    for (size_t i = 0; i < requests.size(); ++i) {
        places[requests[i].line] = i;
    }
    Assignment assignment(requests.size(), -1);
    std::string text;
    bool hasHeader = false;
    for (int64_t number = 1; std::getline(file, text); ++number) {
        if (!text.empty() && text.back() == '\r') {  // as in traces
            text.pop_back();
        }
        if (text.find_first_not_of(" \t") == text.npos) {  // as in traces
            continue;
        }
        const auto fail = [&](const std::string& what) {
            throw AssignmentError(fmt::format("{}:{}: {}", path, number, what));
        };
        if (!hasHeader) {
            if (text != kHeader) {
                fail(fmt::format("the header is not {}", kHeader));
            }
            hasHeader = true;
            continue;
        }
        const std::string_view view = text;
        const size_t comma = view.find(',');
        int64_t line = 0;
        int64_t replica = 0;
        if (comma == view.npos || !Parse(view.substr(0, comma), &line) ||
            !Parse(view.substr(comma + 1), &replica)) {
            fail("expected two whole numbers: line,replica");
        }
        const auto place = places.find(line);
        if (place == places.end()) {
            fail(fmt::format("line is {}; the trace has no request there", line));
        }
        if (replica < 0 || replica >= replicas) {
            fail(fmt::format("replica is {}; expected 0 to {}", replica, replicas - 1));
        }
        if (assignment[place->second] >= 0) {
            fail(fmt::format("line {} has had a replica before", line));
        }
        assignment[place->second] = replica;
    }
    if (!hasHeader) {
        throw AssignmentError(fmt::format("{}: the header {} is missing", path, kHeader));
    }
    for (size_t i = 0; i < requests.size(); ++i) {
        if (assignment[i] < 0) {
            throw AssignmentError(
                fmt::format("{}: the request of line {} has no replica", path, requests[i].line));
        }
    }
    return assignment;
}

std::vector<Request> RequestsOf(int64_t replica, const std::vector<Request>& requests,
                                const Assignment& assignment) {
    std::vector<Request> own;
    for (size_t i = 0; i < requests.size(); ++i) {
        if (assignment.at(i) == replica) {
            own.push_back(requests[i]);
        }
    }
    return own;
}

}  // namespace serve
