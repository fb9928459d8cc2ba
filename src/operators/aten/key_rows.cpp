// SPDX-License-Identifier: Apache-2.0
// Rows in place by vector loops, others by products of matrices.

#include "src/operators/aten/key_rows.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace advstep_operators {
namespace {

constexpr int64_t kElementsOfThread = 32768;  // less is not worth a thread

std::optional<RowType> RowTypeOf(const at::Tensor& cache) {
    switch (cache.scalar_type()) {
        case at::kFloat:
            return RowType::kFloat;
        case at::kHalf:
            return RowType::kHalf;
        case at::kBFloat16:
            return RowType::kBFloat;
        default:
            return std::nullopt;
    }
}

}  // namespace

std::optional<KeyRows> KeyRows::InPlace(const at::Tensor& cache, const at::Tensor& blocks,
                                        int64_t tokens) {
    const std::optional<RowType> type = RowTypeOf(cache);
    if (!type || FindRowLoops() == nullptr || cache.is_meta() || cache.stride(3) != 1 ||
        cache.size(3) % kRowLanes != 0) {
        return std::nullopt;
    }
    KeyRows rows;
    rows.cache_ = cache;
    rows.blocks_ = blocks;
    rows.type_ = *type;
    rows.places_.data = cache.const_data_ptr();
    rows.places_.blocks = blocks.defined() ? blocks.const_data_ptr<int64_t>() : nullptr;
    rows.places_.blockTokens = cache.size(1);
    rows.places_.blockStride = cache.stride(0);
    rows.places_.tokenStride = cache.stride(1);
    rows.places_.headStride = cache.stride(2);
    rows.places_.tokens = tokens;
    rows.places_.size = cache.size(3);
    rows.shape_[0] = rows.heads();
    rows.shape_[1] = tokens;
    rows.shape_[2] = rows.size();
    return rows;
}

at::IntArrayRef KeyRows::sizes() const { return rows_.defined() ? rows_.sizes() : shape_; }

template <typename Loop>
void KeyRows::ForHeads(int64_t group, const Loop& loop) const {
    const int64_t work = std::max<int64_t>(group * tokens() * size(), 1);
    const int64_t grain = std::max<int64_t>(kElementsOfThread / work, 1);
    at::parallel_for(0, heads(), grain, [&](int64_t begin, int64_t end) {
        loop(*FindRowLoops(), HeadRange{begin, end, group});
    });
}

at::Tensor KeyRows::Times(const at::Tensor& queries) const {
    if (rows_.defined()) {
        return at::matmul(queries.to(at::kFloat), rows_.to(at::kFloat).transpose(1, 2));
    }
    const at::Tensor floats = queries.to(at::kFloat).contiguous();
    at::Tensor products = at::empty({heads(), floats.size(1), tokens()}, floats.options());
    ForHeads(floats.size(1), [&](const RowLoops& loops, const HeadRange& heads) {
        loops.multiply(places_, type_, heads, floats.const_data_ptr<float>(),
                       products.mutable_data_ptr<float>());
    });
    return products;
}

at::Tensor KeyRows::Weighted(const at::Tensor& weights) const {
    if (rows_.defined()) {
        return at::matmul(weights, rows_.to(at::kFloat));
    }
    const at::Tensor floats = weights.contiguous();
    at::Tensor sums = at::zeros({heads(), floats.size(1), size()}, floats.options());
    ForHeads(floats.size(1), [&](const RowLoops& loops, const HeadRange& heads) {
        loops.add(places_, type_, heads, floats.const_data_ptr<float>(),
                  sums.mutable_data_ptr<float>());
    });
    return sums;
}

}  // namespace advstep_operators
