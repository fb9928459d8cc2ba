// SPDX-License-Identifier: Apache-2.0
// The assignment of requests to replicas, as a CSV file with the header line,replica.

#pragma once

#include <cstdint>
#include <istream>
#include <stdexcept>
#include <string>
#include <vector>

#include "request_trace.h"

namespace serve {

/// Says where and what: "FILE:LINE: ...".
class AssignmentError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// By request, in their order; -1: none.
using Assignment = std::vector<int64_t>;

/// The text of the file.
std::string AssignmentText(const std::vector<Request>& requests, const Assignment& assignment);

/// Blank lines are skipped.
/// @param file  the text of a file
/// @param path  its name, for messages
/// @throws AssignmentError  the text is malformed, or does not give each request one replica of
///                          [0, replicas)
Assignment ReadAssignment(std::istream& file, const std::string& path,
                          const std::vector<Request>& requests, int64_t replicas);

/// The requests of one replica, in their order.
std::vector<Request> RequestsOf(int64_t replica, const std::vector<Request>& requests,
                                const Assignment& assignment);

}  // namespace serve
