// SPDX-License-Identifier: Apache-2.0
// A request's keys or values, as a tensor or where they lie in a cache.

#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "src/operators/aten/row_loops.h"

namespace advstep_operators {

/// The rows of a request, [heads, tokens, size].
class KeyRows {
 public:
    /// Rows that are a tensor of that shape.
    explicit KeyRows(at::Tensor rows) : rows_(std::move(rows)) {}

    /// Returns rows that are read where they lie in `cache`, [blocks, tokens of a block, heads,
    /// size], the first `tokens` of these blocks; or nothing, if this processor has no loops for
    /// them. An undefined `blocks` stands for block 0.
    static std::optional<KeyRows> InPlace(const at::Tensor& cache, const at::Tensor& blocks,
                                          int64_t tokens);

    int64_t heads() const { return rows_.defined() ? rows_.size(0) : cache_.size(2); }
    int64_t tokens() const { return rows_.defined() ? rows_.size(1) : places_.tokens; }
    int64_t size() const { return rows_.defined() ? rows_.size(2) : places_.size; }
    at::IntArrayRef sizes() const;
    /// Returns the rows as a tensor; undefined if they are in place.
    const at::Tensor& rows() const { return rows_; }

    /// Returns the products of queries, [heads, queries, size], with all rows of their heads:
    /// [heads, queries, tokens] of float32.
    at::Tensor Times(const at::Tensor& queries) const;

    /// Returns the sums of all rows with these weights, [heads, queries, tokens] of float32:
    /// [heads, queries, size].
    at::Tensor Weighted(const at::Tensor& weights) const;

 private:
    KeyRows() = default;
    template <typename Loop>
    void ForHeads(int64_t group, const Loop& loop) const;

    at::Tensor rows_;  // undefined: the rows are in place
    at::Tensor cache_;
    at::Tensor blocks_;
    RowPlaces places_;
    RowType type_ = RowType::kFloat;
    int64_t shape_[3] = {};
};

}  // namespace advstep_operators
