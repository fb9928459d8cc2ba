// SPDX-License-Identifier: Apache-2.0
// Groups of rows that follow each other, as experts have them.

#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace advstep_operators {

/// What a list of groups has.
constexpr int64_t kEnds = 0;    // where each group ends
constexpr int64_t kCounts = 1;  // how many rows each group has
constexpr int64_t kPairs = 2;   // [groups, 2]: the number of a group, and how many rows it has

/// Returns the rows of each group. Refuses a list that goes back, or beyond the rows.
std::vector<int64_t> CountsOf(const char* name, const at::Tensor& list, int64_t type, int64_t rows);
std::vector<int64_t> CountsOf(const char* name, at::IntArrayRef list, int64_t type, int64_t rows);

/// Returns the group of each row, -1 for the rows behind the last group. `like` is a tensor of the
/// device; without data the groups are not known, and all rows are of group 0.
at::Tensor RowsOfGroups(const char* name, const at::Tensor& list, int64_t type, int64_t rows,
                        const at::Tensor& like);

}  // namespace advstep_operators
