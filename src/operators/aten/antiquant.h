// SPDX-License-Identifier: Apache-2.0
// Keys and values of attention that are whole numbers: what they stand for.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// Where a request's keys or values are in the call's tensors.
struct KeyPlace {
    int64_t request = 0;
    bool isWhole = true;  // the tokens are the first ones of the request
    at::Tensor blocks;    // of a paged cache: the numbers of its blocks, in int64; else undefined
    int64_t blockSize = 0;
    int64_t blockCount = 0;  // of the cache
};

/// (x + offset) * scale, with numbers for all elements, channels, heads, tokens, or tokens of
/// heads, as the call's modes say. A call without scales has none.
class Antiquant {
 public:
    Antiquant() = default;
    Antiquant(const Named& named, bool ofValues);

    bool defined() const { return scale_.defined(); }

    /// Returns the scale of a call that has one for all elements.
    at::Tensor OfAll() const { return scale_.reshape({}); }

    /// Returns what x, [heads, tokens, D], stands for, in float32.
    at::Tensor Restored(const at::Tensor& x, const KeyPlace& place) const;

 private:
    at::Tensor Part(const at::Tensor& numbers, const at::Tensor& x, const KeyPlace& place) const;
    at::Tensor OfChannels(const at::Tensor& numbers, const at::Tensor& x) const;
    at::Tensor OfTokens(const at::Tensor& numbers, const at::Tensor& x,
                        const KeyPlace& place) const;
    at::Tensor OfBlocks(const at::Tensor& numbers, const at::Tensor& x,
                        const KeyPlace& place) const;

    std::string name_;
    at::Tensor scale_;
    at::Tensor offset_;
    int64_t mode_ = 0;
};

}  // namespace advstep_operators
